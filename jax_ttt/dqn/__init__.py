"""Deep Q-learning: all computations of one update."""
