from tests.support.browser import browse, chromium, launched  # noqa: F401 (fixtures)
