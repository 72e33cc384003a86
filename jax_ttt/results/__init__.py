"""What came of a run or a match, as plain data."""
