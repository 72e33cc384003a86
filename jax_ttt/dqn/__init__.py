"""Deep Q-learning: everything inside one update."""
