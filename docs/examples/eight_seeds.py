"""Train agents of eight seeds and plot their learning curves."""

import jax_ttt

runs = jax_ttt.train_many(range(8), preset="table")
print(runs)
for run in runs:
    print(f"seed {run.seed}: proven from update {run.proven_from} on")
jax_ttt.draw(runs, "seeds.svg")
