"""The public functions: what `import jax_ttt` offers, and what they return."""
