"""Train an agent, save it and use it."""

import jax_ttt

run = jax_ttt.train(seed=1, preset="table", tremble=0.6)  # settings are keywords
print(run)  # its last evaluation: exact results, and whether it is unbeatable
jax_ttt.draw(run, "curve.svg")

jax_ttt.save(run.agent, "agent.safetensors")
agent = jax_ttt.load("agent.safetensors")
print(jax_ttt.q_values(agent, [4]))  # the value of each reply to X in the centre
print("its reply:", jax_ttt.best_move(agent, [4]))
