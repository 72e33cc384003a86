"""Games: the one door to PGX, the enumerated tree, symmetries."""
