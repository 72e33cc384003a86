"""A DQN of your own in PyTorch, in self-play, which is graded every 100 steps.

pip install torch; python docs/examples/torch_dqn.py
"""

import copy

import jax
import numpy as np
import pgx
import torch
from pgx.experimental import auto_reset
from torch import nn

import jax_ttt

NUM_GAMES, NUM_STEPS, EPSILON, TAU = 256, 4000, 0.3, 0.02

env = pgx.make("tic_tac_toe")
init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))
init, step = jax.jit(init), jax.jit(step)  # a finished game becomes a new one


def tensor(leaf):
    return torch.from_numpy(np.array(leaf))


def q_values(network, state):
    """Return the action values of the player to move, -inf where a move is illegal."""
    values = network(tensor(state.observation).float())
    return values.masked_fill(~tensor(state.legal_action_mask), -torch.inf)


def train(seed=0, num_steps=NUM_STEPS):
    """Yield the number of steps and the grade, every 100 steps."""
    torch.manual_seed(seed)
    layers = [nn.Linear(18, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()]
    network = nn.Sequential(nn.Flatten(), *layers, nn.Linear(256, 9))
    target = copy.deepcopy(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    @torch.no_grad()
    def greedy(state):
        return q_values(network, state).argmax(dim=1).numpy()

    keys = jax.random.split(jax.random.key(seed), (num_steps + 1, NUM_GAMES))
    state = init(keys[0])
    for number in range(1, num_steps + 1):
        explores = torch.rand(NUM_GAMES) < EPSILON
        random_move = torch.rand(NUM_GAMES, 9).mul(tensor(state.legal_action_mask))
        action = torch.where(explores, random_move.argmax(dim=1), tensor(greedy(state)))
        after = step(state, action.numpy(), keys[number])

        # The reward is the mover's; the value after the move is its opponent's.
        reward = tensor(after.rewards)[range(NUM_GAMES), tensor(state.current_player)]
        with torch.no_grad():
            next_value = q_values(target, after).max(dim=1).values
        td_target = torch.where(tensor(after.terminated), reward, -next_value)
        chosen = q_values(network, state)[range(NUM_GAMES), action]
        loss = nn.functional.huber_loss(chosen, td_target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for old, new in zip(target.parameters(), network.parameters(), strict=True):
            old.data.lerp_(new.data, TAU)
        state = after
        if number % 100 == 0:
            yield number, jax_ttt.grade(greedy, env_id="tic_tac_toe")


if __name__ == "__main__":
    for number, grade in train():
        print(f"{number:,} steps: {grade.verdict.splitlines()[0]}", flush=True)
        if grade.unbeatable:
            break
