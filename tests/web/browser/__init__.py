"""A package, so that its fixtures can last until its last test."""
