"""Shapes of a picture: boards of stones, as SVG or with matplotlib. Imports no JAX."""
