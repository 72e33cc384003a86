"""Settings, presets, games, flags and published systems: what is fixed before a run.

Neither this folder nor what the modules of commands import at their top imports JAX or
NumPy, so that `--help` and a wrong flag are answered at once.
"""
