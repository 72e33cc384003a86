"""Playing strength: matches, cross tables and grades."""
