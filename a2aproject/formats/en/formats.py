"""How Django's admin writes and reads dates: with seconds, and hours from 00 to 23."""

DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i:s"
DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
