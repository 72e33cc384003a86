"""The host side of training: programs, loop, run folder, loggers, many agents."""
