"""Programs as players in commands and in Python; signals.

What they are asked, and what is refused: `tests/players/test_program.py`.
"""

import shlex
import signal
import time

import as_users
import commands
import player_programs
import pytest

import jax_ttt
from jax_ttt import evaluate
from jax_ttt.runtime import interrupts


def test_a_program_in_a_folder_with_a_space_and_in_a_shell(write_program, tmp_path):
    folder = tmp_path / "my bots"
    written = write_program(folder=folder, file="my player")
    shell = f"cd {shlex.quote(str(folder))} && ./*player | cat"
    for command in (f"{folder}/my player", f"sh -c {shlex.quote(shell)}"):
        game = jax_ttt.new_game(f"program:{command}", seat="second")
        assert game.moves == (0,)
        game.opponent.close()
    assert len(written.told()) == 2


CHANCE = """
    import random
    chance = globals().setdefault("chance", random.Random(1))
    say(chance.choice([*{*range(9)} - {*moves}]))
"""


def test_the_processes_of_a_player_end_with_its_games_and_when_it_is_closed(
    write_program,
):
    written = write_program(CHANCE)
    player = jax_ttt.player(written.name)
    games = [jax_ttt.new_game(player, seat="second") for _ in range(2)]
    player.close()
    assert written.left_running() == []
    game = games[0]
    while not game.is_over:  # it starts again
        game = game.play(game.legal_moves[0])
    assert written.left_running() == []
    assert written.told()[-1][-1] == "quit"
    jax_ttt.player("random").close()


def test_errors_have_the_name_that_a_program_was_given(write_program):
    with pytest.raises(jax_ttt.Refused, match=r"^my bot: answered 0 after the moves"):
        jax_ttt.player(write_program("say(0)").name, name="my bot")


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(
    ("command", "number", "ends"),
    [
        ("evaluate", signal.SIGINT, (130, "error: interrupted\n")),
        ("evaluate --env-id connect_4x4", signal.SIGINT, (130, "error: interrupted\n")),
        ("evaluate", signal.SIGTERM, (143, "")),
        ("arena random", signal.SIGHUP, (129, "")),
        ("play --side o", signal.SIGTERM, (143, "")),
        ("evaluate", signal.SIGINT, None),
        ("evaluate", signal.SIGTERM, None),
        ("evaluate", signal.SIGHUP, None),
    ],
)
def test_signals_end_the_program_too(command, number, ends, write_program, tmp_path):
    """Although it ignores signals, the end of its input and `quit`.

    As by `timeout`, the signal comes twice: to the process and to its group. In the
    rows without an end, a second request comes while the command waits for the program.
    """
    written = write_program(code=player_programs.DEAF, keeps_output=True)
    flags = ["--copies", 3, "--answer-seconds", 300]
    process = as_users.start(command, written.name, *flags, cwd=tmp_path)
    try:
        written.wait_until_asked()
        process.send_signal(number)
        if ends is None:
            time.sleep(interrupts.SAME_REQUEST + 0.1)
        if ends is None or number != signal.SIGINT:
            process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    if ends is None:
        assert process.returncode in (-number, 128 + number)
    else:
        assert (process.returncode, err) == ends
    assert written.left_running() == []


@pytest.mark.slow
@pytest.mark.fault
def test_a_program_whose_command_is_killed_reads_the_end_of_its_input(
    write_program, tmp_path
):
    written = write_program("get(); os.killpg(0, 9)")
    process = as_users.start("evaluate", written.name, cwd=tmp_path)
    written.wait_until_asked()
    process.kill()
    process.communicate()
    assert written.left_running() == []


@pytest.mark.fault
def test_a_program_that_calls_us_keeps_its_handlers(write_program):
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    commands.run(evaluate, write_program("say(0)").name, code=2)
    assert [signal.getsignal(number) for number in numbers] == before
