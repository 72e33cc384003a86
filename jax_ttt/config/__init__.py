"""Settings, presets and published systems. Imports no JAX."""
