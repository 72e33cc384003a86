"""The public functions of `jax_ttt`, and their return types."""
