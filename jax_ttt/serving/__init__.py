"""An HTTP server for one person: which requests it takes, and how it ends. No JAX."""
