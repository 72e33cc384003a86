"""Players, by name or from a file, and game sessions against a player."""
