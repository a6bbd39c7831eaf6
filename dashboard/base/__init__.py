"""What pages share: the page, its frame, a list page, an act, exports, preferences."""
