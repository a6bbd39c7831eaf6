"""Credentials: keys, signatures, secret URLs, and the caller that presents one."""
