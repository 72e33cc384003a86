"""Games of PGX, of stones in a row, of users; opponents, positions, symmetries."""
