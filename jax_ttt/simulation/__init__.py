"""Rates on more devices than there are: what is exchanged, and how long it takes."""
