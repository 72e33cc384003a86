"""Play a game against a saved agent or any player, in text.

python -m jax_ttt.play --side o
"""

if __name__ == "__main__":  # before the other imports, which take a moment
    from jax_ttt.runtime import interrupts

    interrupts.leave_on_import()

import dataclasses
import sys
from collections.abc import Sequence
from typing import Literal

import tyro

from jax_ttt import cli
from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import SEATS, EnvId, Seat
from jax_ttt.config.ranges import SEED_RANGE
from jax_ttt.players import names
from jax_ttt.runtime import compile_events


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.Machine):
    """Play a game against a saved agent or any other player, in text.

    Exit codes: 0 done, 1 failed, 2 bad flags or file, 130 Ctrl-C.
    """

    player: tyro.conf.Positional[str | None] = None
    """A run's folder, an agent's file, or a player of the arena such as minimax; by
    default the newest run below runs/."""
    side: Literal["x", "o", "first", "second"] = "x"
    """Your side; x, or first, makes the first move."""
    env_id: EnvId | None = None
    """The game; by default the saved agent's, else tic_tac_toe."""
    seed: int = 0
    """Seed of the player's random numbers. 0 to 4,294,967,295."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "play")
    seat: Seat = "first" if args.side in ("x", "first") else "second"
    SEED_RANGE.check("seed", args.seed)
    name = cli.named_or_newest(args.player)
    spec = names.read_name(name, args.env_id or catalogue.DEFAULT)
    cli.set_up(args, 2)

    import jax

    from jax_ttt.players import agents, registry
    from jax_ttt.reports import result_text, session_text, text_board

    env_id = agents.game([spec], args.env_id)
    key, player_key = jax.random.split(jax.random.key(args.seed))
    with compile_events.Status(f"preparing {name}"):
        opponent = registry.enter(spec, env_id, player_key)
    you = text_board.letters_of(env_id)[SEATS.index(seat)]
    print(f"{env_id} against {opponent.name}: you are {you}")
    if learned := result_text.learned_seat(env_id, opponent.seats):
        print(f"({opponent.name} {learned})")
    print(session_text.play_session(opponent, env_id, seat, key, ask=input))
    return 0


if __name__ == "__main__":
    sys.exit(main(None))
