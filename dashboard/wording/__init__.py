"""The words of several pages for rows and payloads."""
