"""Boards to action values: the perceptron, the table."""
