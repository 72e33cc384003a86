"""Players, by name or from a file, and a game against one."""
