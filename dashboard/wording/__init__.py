"""The words of pages for rows and figures."""
