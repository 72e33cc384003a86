"""Prove an agent unbeatable, or find the line of play that beats it."""

import jax_ttt

agent = jax_ttt.train(seed=1, preset="table").agent
print(jax_ttt.prove(agent))

proof = jax_ttt.prove("mcts:50")  # a search of 50 playouts is beatable
print(proof)
print(f"it loses as {proof.losing_seat} player:", *(proof.losing_line or ()))
jax_ttt.draw(proof, "losing_line.svg")
print(jax_ttt.grade(agent))  # full report: exact results, proof, measures
