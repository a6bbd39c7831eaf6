"""The values that a hub answers, and those that it is sent. Times are datetimes in UTC, spans are timedeltas."""
