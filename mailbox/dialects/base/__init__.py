"""The parts that all dialects share: the view, shapes of fields, paths, errors, public routes, OpenAPI."""
