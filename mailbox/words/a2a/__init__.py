"""The words of the official A2A protocol. They use no database."""
