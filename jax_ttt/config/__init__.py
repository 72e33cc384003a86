"""What is fixed before a run: settings, presets, published systems. No JAX."""
