"""The input of people: forms and choices."""
