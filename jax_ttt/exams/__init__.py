"""Exams: positions whose moves have known values, which a player is asked about."""
