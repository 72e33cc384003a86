"""The files of runs, agents and sweeps."""
