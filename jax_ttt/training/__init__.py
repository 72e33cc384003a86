"""The host side of training: chunks, the loop, a run's state and files, many agents."""
