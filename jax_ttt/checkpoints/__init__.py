"""What a run or a sweep needs to continue, as files."""
