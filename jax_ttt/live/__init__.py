"""Live training: a run in a thread that can be watched, paused and changed."""
