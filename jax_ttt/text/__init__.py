"""Results, boards and games as text; the dialogue of a game in a terminal."""
