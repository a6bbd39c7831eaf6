"""Numbers made ready to draw."""
