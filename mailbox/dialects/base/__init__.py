"""What all dialects share: the view, the shapes of fields, problems, statuses, OpenAPI."""
