"""Play a game against an agent, here with random moves."""

import random

import jax_ttt

agent = jax_ttt.train(seed=1, preset="table").agent
game = jax_ttt.new_game(agent, seat="second")
while not game.is_over:
    print(game)
    move = random.choice(game.legal_moves)  # or int(input("your move: "))
    game = game.play(move)
print(game)
print("result:", game.result)
