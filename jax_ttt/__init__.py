"""Board games learned by self-play in JAX, with proofs in place of win rates."""

__version__ = "0.1.0"
