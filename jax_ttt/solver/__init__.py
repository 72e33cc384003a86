"""Exact results over a game tree: policies, outcomes, proof, minimax."""
