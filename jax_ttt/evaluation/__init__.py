"""How strong a player is: matches, cross tables, grades."""
