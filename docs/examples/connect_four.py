"""Train a Connect Four agent on a board of 4 x 4, and search what beats it."""

import jax_ttt

run = jax_ttt.train(seed=1, preset="connect-4x4", until_proven=True)
print(run)
jax_ttt.draw(run, "rounds.svg")  # the rounds of counterexamples

agent = run.agent
print(jax_ttt.prove(agent))  # over all positions that the agent reaches
print(jax_ttt.q_values(agent, [1, 1]))  # moves are columns, numbered from 0

game = jax_ttt.new_game("shipped:connect-7x6").play(3)  # the standard board
print(game)
