"""Mutants: faults in the source that the fast tests must notice."""
