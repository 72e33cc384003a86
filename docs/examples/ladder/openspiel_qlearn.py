"""OpenSpiel's tabular Q-learning as a program that plays tic-tac-toe.

Needs `pip install open_spiel==2.0.2` (Apache-2.0).

It trains at the start, for about 10 seconds, as the library's example
`tic_tac_toe_qlearner.py` does: two learners with default settings play 50,000 games
against each other. Then it plays the action of the highest value; ties are random. The
argument is the seed of training and ties, by default 0; each position begins with it
anew.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/openspiel_qlearn.py"`
"""

import sys

import numpy as np
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import tabular_qlearner

EPISODES = 50_000


def train(env):
    agents = [tabular_qlearner.QLearner(player_id=i, num_actions=9) for i in range(2)]
    for _ in range(EPISODES):
        time_step = env.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            time_step = env.step([agents[player].step(time_step).action])
        for agent in agents:
            agent.step(time_step)
    return agents


def choose(env, agents, moves):
    time_step = env.reset()
    for move in moves:
        time_step = env.step([move])
    agent = agents[time_step.observations["current_player"]]
    return int(agent.step(time_step, is_evaluation=True).action)


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("OpenSpiel's Q-learning plays tic_tac_toe only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    np.random.seed(seed)  # noqa: NPY002 (the library's generator)
    env = rl_environment.Environment("tic_tac_toe")
    agents = train(env)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        np.random.seed(seed)  # noqa: NPY002
        print(choose(env, agents, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
