"""The parts of the settings, one a file."""
