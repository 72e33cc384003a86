"""Players: named, saved and users' own; the analysis of their moves."""
