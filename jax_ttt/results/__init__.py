"""Results of runs and matches as plain data."""
