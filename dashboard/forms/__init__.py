"""What a person may enter."""
