"""A run seen from the host: programs, loop, folder, loggers, many agents."""
