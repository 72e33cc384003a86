"""Games: PGX and our own, opponents, packed positions, symmetries, the whole tree."""
