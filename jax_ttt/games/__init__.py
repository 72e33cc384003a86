"""Games: the interface to PGX, the enumerated tree, symmetries."""
