"""The figures of pages: numbers, bars and rows, ready to draw."""
