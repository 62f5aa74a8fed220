"""The command `delta-scd2`: prints the history of a key, and writes a report on a dimension."""
