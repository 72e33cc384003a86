"""Pictures, as SVG files. They need the extra `plots` (matplotlib)."""

from pathlib import Path

import numpy as np

from jax_ttt import games
from jax_ttt.config import EnvId
from jax_ttt.crosstable import CrossTable


def cross_table(table: CrossTable, env_id: EnvId, path: Path) -> None:
    """Draw a cross table as a heat map of the first player's mean score."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    size = len(table.names)
    score = table.rates @ [1, 0.5, 0]
    first, second = games.seat_names(env_id)
    # The same table gives the same file.
    with mpl.rc_context({"svg.hashsalt": "jax_ttt", "svg.fonttype": "none"}):
        figure = Figure(figsize=(3 + 1.1 * size, 2 + 0.75 * size), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(score, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        for row, column in np.ndindex(size, size):
            mark = "~" if table.sampled[row, column] else ""
            text = mark + "\n".join(f"{100 * x:.1f}" for x in table.rates[row, column])
            dark = score[row, column] < 0.5
            colour = "white" if dark else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
        axes.set_xticks(range(size), table.names, rotation=30, ha="right")
        axes.set_yticks(range(size), table.names)
        axes.set_xlabel(f"plays {second}")
        axes.set_ylabel(f"plays {first}")
        axes.set_title(f"% {first} wins, draws, {second} wins (~ sampled)")
        figure.colorbar(image, label=f"{first}'s mean score")
        figure.savefig(path, format="svg", metadata={"Date": None})
