"""The command `delta-scd2`: the history of a key in the terminal, and of a dimension as a page."""
