"""The parts that pages share: the view, its frame, a list page, an act, exports, preferences, sessions."""
