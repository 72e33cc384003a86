"""What the programs of a run and of a sweep exchange between devices."""

import jax
import numpy as np

from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.scaling import mesh
from jax_ttt.simulation import collectives
from jax_ttt.simulation.rates import Traffic
from jax_ttt.training.keys import run_key
from jax_ttt.training.programs import Programs, hyper_arrays


def traffic_in_use(config: Config) -> Traffic:
    """Compile for the devices in use, and return what the programs exchange.

    They are an update of a run, and one of a sweep with an agent on each device. The
    run has as many games as the settings say, or the next number that can be split. It
    does not change what is exchanged.
    """
    run = config.replace(num_envs=mesh.rounded_up(config.run.num_envs))
    alone = Programs(run), run_key(0), hyper_arrays(run)
    many = Programs(config, many=True), *arguments_of_many(config, mesh.num_devices())
    texts = []
    for made, key, hyper in (alone, many):
        _, job = made.compile_training({1}, key, hyper, None)
        texts.append(job.compiled.result().as_text() or "")
    return Traffic(*map(collectives.exchanges, texts))


def arguments_of_many(config: Config, num_agents: int) -> tuple[np.ndarray, Hyper]:
    """Return the keys and the hyperparameters of agents that are trained at once."""
    keys = np.stack([run_key(seed) for seed in range(num_agents)])
    return keys, jax.tree.map(lambda x: np.full(num_agents, x), hyper_arrays(config))
