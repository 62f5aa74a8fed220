"""The Python twins of the macros in macros/changelog."""
