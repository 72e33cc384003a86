"""Mutants of what a player reaches: keys, successors, levels, losing lines, games."""

from mutants.mutant import mutants

GAMES = (
    *mutants(
        "envs/line_games.py",
        "envs/test_line_games.py",
        [
            (
                "for shifts in ([0] * len(near), [*steps], [*steps][::-1]):",
                "for shifts in ([0] * len(near), [*steps]):",
                "one of the two diagonals does not win",
            ),
            (
                "terminated=won | full,",
                "terminated=won,",
                "a full board goes on",
            ),
            (
                "gain = jnp.where(won, 1.0, 0.0)",
                "gain = jnp.where(won, -1.0, 0.0)",
                "who sets the fourth stone loses",
            ),
            (
                "lowest = rows - 1 - (grid != FREE).sum(axis=0)",
                "lowest = (grid != FREE).sum(axis=0)",
                "stones rise",
            ),
        ],
    ),
    *mutants(
        "envs/packing.py",
        "envs/test_packing.py",
        [
            (
                "return bits | (jnp.uint32(1) << height)",
                "return bits",
                "a key does not hold the height of a column",
            ),
            (
                "taken, bit = rows < height,",
                "taken, bit = rows <= height,",
                "each column is unpacked with one stone too many",
            ),
            (
                "Stones(jnp.where(first, mine, yours), jnp.where(first, yours, mine))",
                "Stones(mine, yours)",
                "a key holds the mover's stones, whoever that is",
            ),
        ],
    ),
)

REACH = (
    *mutants(
        "solver/levels.py",
        "solver/test_levels.py",
        [
            (
                "np.add.reduceat(rows.chance[order], begin)",
                "rows.chance[order][begin]",
                "of merged positions, one chance counts",
            ),
            (
                "np.minimum.reduceat(rows.parent[order], begin)",
                "np.maximum.reduceat(rows.parent[order], begin)",
                "the last parent is kept",
            ),
            (
                "self.runs = [merge(_joined(self.runs))]",
                "self.runs = [self.runs[-1]]",
                "rows are lost when there are many",
            ),
            (
                "rows = merge(_joined([EMPTY, *self._waiting]))",
                "rows = _joined([EMPTY, *self._waiting])",
                "rows are distributed before they are sorted",
            ),
            (
                "part = self._parts.pop(0)",
                "part = self._parts.pop()",
                "the ranges come in the wrong order",
            ),
        ],
    ),
    *mutants(
        "solver/successors.py",
        "solver/test_successors.py",
        [
            (
                "jnp.where(allowed[:, 0] & inside, result, ILLEGAL)",
                "jnp.where(inside, result, ILLEGAL)",
                "a move into a full column is played",
            ),
            (
                "differs |= ~same | (after.result != moves.result)[:, 0]",
                "differs |= same",
                "another move on the mirror image is not noticed",
            ),
            (
                "less = high | ((keys[:, 1] == least[:, 1]) & low)",
                "less = high",
                "the first key depends on one word alone",
            ),
        ],
    ),
    *mutants(
        "solver/reach.py",
        "solver/test_reach.py",
        [
            (
                "results = (WON, DRAWN, LOST) if own else (LOST, DRAWN, WON)",
                "results = (WON, DRAWN, LOST)",
                "wins of the opponent count as the player's",
            ),
            (
                "share = level.chance[rows] / legal.sum(axis=1)",
                "share = level.chance[rows] / legal.shape[1]",
                "full columns count as moves of a random opponent",
            ),
            (
                "return self.is_complete and not self.ends.lost.moves",
                "return not self.ends.lost.moves",
                "a search that was cut proves the player unbeatable",
            ),
            (
                "if moves is None:\n            return\n",
                "if moves is None:\n            break\n",
                "too many positions count as the end of all games",
            ),
        ],
    ),
    *mutants(
        "solver/expansion.py",
        "solver/test_expansion.py",
        [
            (
                "kept = rows.stop - rows.start",
                "kept = None",
                "what fills the last batch counts too",
            ),
            (
                "return SEATS[level % 2] == self.seat",
                'return SEATS[level % 2] == "first"',
                "the player always moves first",
            ),
        ],
    ),
    *mutants(
        "solver/losing_lines.py",
        "solver/test_losing_lines.py solver/test_samples_of_losing_lines.py "
        "solver/test_reach.py",
        [
            (
                "number, keys = number + 1,",
                "number, keys = number + 2,",
                "the same side moves at each level of a sample",
            ),
            (
                "num_positions, replace=False",
                "num_positions, replace=True",
                "a sample has a position twice",
            ),
            (
                "leads = lost | (there & (after.result == OPEN))",
                "leads = lost",
                "only the last position of a losing line is marked",
            ),
            (
                "return LOST if subject.is_own(number) else WON",
                "return WON if subject.is_own(number) else LOST",
                "won ends are taken for lost ones",
            ),
            (
                "has[rows] = (after.result != ILLEGAL).sum(axis=1) > 1",
                "has[rows] = True",
                "one legal move is a choice",
            ),
        ],
    ),
    *mutants(
        "evaluation/reached_grades.py",
        "proving/test_counterexamples.py",
        [
            (
                "if rng is not None and not found.is_complete:",
                "if rng is not None and found.is_complete:",
                "no counterexamples come from a sample",
            ),
        ],
    ),
    *mutants(
        "evaluation/reached_grades.py",
        "evaluation/test_reached_grades.py",
        [
            (
                "    if not entrant.is_fixed:",
                "    if False:",
                "a player with chance is graded as if it had none",
            ),
            (
                "for seat in entrant.seats:",
                'for seat in ("first", "second"):',
                "a seat that was not learned is graded",
            ),
            (
                "        if interrupted:\n            break\n",
                "",
                "after Ctrl-C the next seat is searched",
            ),
        ],
    ),
    *mutants(
        "dqn/start_positions.py",
        "dqn/test_start_positions.py",
        [
            (
                "new = np.setdiff1d(numbers, before)",
                "new = np.unique(numbers)",
                "a counterexample is in the pool twice",
            ),
            (
                "[-len(pool.keys) :]",
                "[: len(pool.keys)]",
                "a full pool takes no more counterexamples",
            ),
            (
                "new = rng.choice(new, len(pool.keys), replace=False)",
                "pass",
                "of too many counterexamples a pool gets those of the highest keys",
            ),
            (
                "(uniform < share) & (pool.size > 0)",
                "uniform < share",
                "games start in an empty pool",
            ),
            (
                "pool.size - 1 - age",
                "age",
                "the oldest counterexamples are taken more often",
            ),
        ],
    ),
    *mutants(
        "proving/counterexamples.py",
        "proving/test_counterexamples.py",
        [
            (
                "            stopped = True\n",
                "",
                "a search that a signal ended counts as whole",
            ),
            (
                "time.monotonic() - begun > seconds * part",
                "time.monotonic() - begun < 0",
                "a search goes on after its time",
            ),
        ],
    ),
    *mutants(
        "evaluation/evaluation.py",
        "evaluation/test_evaluation.py",
        [
            (
                "for seat in found) if complete else np.nan",
                "for seat in found) if found else np.nan",
                "the losing ends of a search that was cut are compared",
            ),
        ],
    ),
    *mutants(
        "reports/reached_text.py",
        "reports/test_reached_text.py",
        [
            (
                "for seat, x in grades.items() if not x.is_complete",
                "for seat, x in grades.items() if False",
                "an open seat is called unbeatable",
            ),
        ],
    ),
)

MUTANTS = (*GAMES, *REACH)
