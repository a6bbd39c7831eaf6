"""The commands, one module for each noun. A module is imported when one of its commands is used."""
