"""Tianshou's DQN as a program that plays tic-tac-toe.

Needs `pip install tianshou==2.0.1 "pettingzoo[classic]==1.27.0" torch==2.13.0` (MIT,
MIT and BSD-3-Clause).

It trains at the start, for 10 to 30 seconds, with the settings of Tianshou's example
`test/pettingzoo/tic_tac_toe.py`: against a random player, in the seat asked for, until
the mean result of 10 test games is 0.6, or for 50 epochs of 1,000 steps. Then it plays
the action of the highest value. The argument is the seed of the training, by default
1626, the example's.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/tianshou_dqn.py"`
"""

import contextlib
import copy
import sys

import numpy as np
import torch
from pettingzoo.classic import tictactoe_v3
from tianshou.algorithm import (
    DQN,
    MARLRandomDiscreteMaskedOffPolicyAlgorithm,
    MultiAgentOffPolicyAlgorithm,
)
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net


def make_env():
    return PettingZooEnv(tictactoe_v3.env())


def make_agent(env):
    net = Net(
        state_shape=env.observation_space.spaces["observation"].shape,
        action_shape=env.action_space.n,
        hidden_sizes=[128, 128, 128, 128],
    )
    policy = DiscreteQLearningPolicy(
        model=net, action_space=env.action_space, eps_training=0.1, eps_inference=0.05
    )
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-4),
        n_step_return_horizon=3,
        gamma=0.9,
        target_update_freq=320,
    )


def train(seat, seed):
    """Return an agent for a seat, 0 or 1."""
    np.random.seed(seed)  # noqa: NPY002 (the library's generator)
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more change the sums, and so the agent
    env = make_env()
    agent = make_agent(env)
    agents = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space)]
    agents.insert(seat, agent)
    both = MultiAgentOffPolicyAlgorithm(algorithms=agents, env=env)
    envs, test_envs = (DummyVectorEnv([make_env] * 10) for _ in range(2))
    envs.seed(seed)
    test_envs.seed(seed)
    buffer = VectorReplayBuffer(20000, 10)
    collector = Collector(both, envs, buffer, exploration_noise=True)
    collector.reset()
    collector.collect(n_step=640)
    best = {}

    def keep_best(_):
        best.update(copy.deepcopy(agent.policy.state_dict()))

    both.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=Collector(both, test_envs, exploration_noise=True),
            max_epochs=50,
            epoch_num_steps=1000,
            collection_step_num_env_steps=10,
            test_step_num_episodes=10,
            batch_size=64,
            update_step_num_gradient_steps_per_sample=0.1,
            stop_fn=lambda mean: mean >= 0.6,
            test_in_training=False,
            save_best_fn=keep_best,
            multi_agent_return_reduction=lambda rewards: rewards[:, seat],
        )
    )
    agent.policy.load_state_dict(best)
    agent.eval()
    return agent


def choose(agent, moves):
    # PettingZoo numbers the cells column by column: its board is ours, transposed.
    env = tictactoe_v3.raw_env()
    env.reset()
    for move in moves:
        env.step(move)
    seen = env.observe(env.agent_selection)
    mask = seen["action_mask"].astype(bool)
    obs = Batch(obs=seen["observation"][None], mask=mask[None])
    with torch.no_grad():
        return int(agent.policy(Batch(obs=obs, info=Batch())).act[0])


def main():
    name, seat = sys.stdin.readline().split()
    if name != "tic_tac_toe":
        sys.exit("Tianshou's DQN plays tic_tac_toe only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1626
    with contextlib.redirect_stdout(sys.stderr):
        agent = train(["first", "second"].index(seat), seed)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(agent, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
