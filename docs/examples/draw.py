"""Draw a game, an agent's values and its likeliest game."""

import jax_ttt

agent = jax_ttt.train(seed=1, preset="table").agent
game = jax_ttt.new_game("minimax-first")
while not game.is_over:
    game = game.play(jax_ttt.best_move(agent, game))

jax_ttt.draw(game, "game.svg")  # an animation of its moves
jax_ttt.draw([4, 0, 8], "board.svg", theme="dark")  # the board after three moves
jax_ttt.draw(jax_ttt.q_values(agent, [4, 0, 8]), "values.svg")
jax_ttt.draw(agent, "agent.svg")  # its likeliest game against itself
