"""Results, boards and games as text; what a person types and sees in a terminal."""
