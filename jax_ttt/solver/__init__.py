"""Exact results over a game's tree: policies, outcomes, proof, minimax."""
