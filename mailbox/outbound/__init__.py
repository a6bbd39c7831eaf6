"""The one guarded way out of the hub: destinations judged, connections bounded, answers limited."""
