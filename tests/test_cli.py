"""What the commands share: help, defaults, errors. `test_refused.py` has refusals."""

import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import get_args

import commands
import jax
import pytest
import tyro

from jax_ttt import __version__, arena, cli, evaluate, play, plot
from jax_ttt.__main__ import COMMANDS, run_command
from jax_ttt.config.errors import UsageError, flag_name
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import PART_OF_FIELD, Config
from jax_ttt.files import records

train = commands.module_of("train")

ROOT = str(Path(cli.__file__).parents[1])
TESTS = str(Path(str(commands.__file__)).parent)


def command_of(main):
    """Return a command without flags that does this."""
    return cli.Command("jax_ttt.none", NoArgs, main)


@dataclasses.dataclass
class NoArgs:
    """Do something."""


def plain(text):
    """Return the words of a text without boxes and line breaks."""
    return " ".join(re.sub("[─│╭╮╰╯]", " ", text).split())


@pytest.fixture
def empty_dir(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.fault
@pytest.mark.parametrize("kind", ["gpu", "tpu"])
def test_a_device_that_is_absent_is_refused(kind, empty_dir, capsys):

    if jax.default_backend() == kind:
        pytest.skip("this machine has one")
    assert commands.run(train, ["--device", kind]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error: --device must be auto or ")
    assert f"got '{kind}'" in err
    assert list(empty_dir.iterdir()) == []


@pytest.mark.fault
@pytest.mark.parametrize(
    ("command", "platform"),
    [
        ("train", "banana"),
        pytest.param("evaluate random", "cuda", marks=pytest.mark.slow),
    ],
)
def test_a_platform_that_is_absent_is_refused(command, platform, empty_dir):

    if platform != "banana":
        with contextlib.suppress(RuntimeError, AssertionError):
            pytest.skip(f"this machine has {jax.devices(platform)}")
    (empty_dir / "run").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", *f"jax_ttt.{command}".split()],
        capture_output=True,
        text=True,
        env=os.environ
        | {
            "PYTHONPATH": str(Path(str(train.__file__)).parents[1]),
            "JAX_PLATFORMS": platform,
        },
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: JAX_PLATFORMS must name platforms that ")
    assert f"got '{platform}': unset it, or set it to cpu" in done.stderr
    assert [path.name for path in empty_dir.iterdir()] == ["run"]


def test_version(capsys, empty_dir):
    assert commands.run(train, ["--version"]) == 0
    assert capsys.readouterr().out == f"jax_ttt {__version__}\n"
    assert list(empty_dir.iterdir()) == []


def test_good_flags_parse():
    flags = (
        "--env-id connect_four --num-envs 4 --num-updates 6 --learning-rate 1e-3 "
        "--weight-decay 0.01 --epsilon-start 0.9 --epsilon-end 0.9 --tau 1 --gamma 0.5 "
        "--tremble 0 --no-canonical --lockstep --hidden-size 16 --eval-every 3 "
        "--eval-games 0 --seed 4294967295 --run-dir x --device cpu --quiet"
    )
    args = commands.parse(train, flags.split())
    assert args.config == Config.of(
        env_id="connect_four",
        num_envs=4,
        num_updates=6,
        learning_rate=1e-3,
        weight_decay=0.01,
        epsilon_start=0.9,
        epsilon_end=0.9,
        tau=1.0,
        gamma=0.5,
        tremble=0.0,
        canonical=False,
        lockstep=True,
        hidden_size=16,
        eval_every=3,
        eval_games=0,
    )
    assert (args.seed, str(args.run_dir)) == (2**32 - 1, "x")
    assert args.machine.device == "cpu"
    assert (args.quiet, args.json, args.until_proven) == (True, False, False)


@pytest.mark.parametrize("preset", get_args(Preset))
def test_a_preset_gives_the_defaults(preset):
    assert commands.parse(train, ["--preset", preset]).config == PRESETS[preset]


@pytest.mark.parametrize(
    "flags",
    ["--preset article --num-envs 4", "--num-envs=4 --preset=article"],
)
def test_flags_change_a_preset_wherever_they_stand(flags):
    args = commands.parse(train, flags.split())
    assert args.preset == "article"
    expected = PRESETS["article"].replace(num_envs=4)
    assert args.config == expected


def test_without_flags_the_config_is_the_default():
    args = commands.parse(train, [])
    assert args.config == PRESETS["default"]
    assert (args.preset, args.seed) == ("default", 1)


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        ("", True),
        ("--env-id connect_four", False),
        ("--env-id=connect_four --snapshots", True),
        ("--no-snapshots", False),
        ("--config FILE", False),
        ("--config FILE --env-id tic_tac_toe", True),
        ("--config FILE --snapshots", True),
    ],
)
def test_snapshots_are_usual_where_the_game_is_enumerable(flags, kept, tmp_path):
    about = {"format_version": records.FORMAT_VERSION, "preset": "plain", "seed": 1}
    about["config"] = {"env_id": "connect_four"}
    (tmp_path / "config.json").write_text(json.dumps(about))
    words = flags.replace("FILE", str(tmp_path)).split()
    assert commands.parse(train, words).snapshots == kept


@pytest.mark.parametrize(
    "flags", ["--env-id othello", "--opponent=random", "--opponent mcts:9"]
)
def test_other_games_and_opponents_start_from_plain_settings(flags):
    args = commands.parse(train, flags.split())
    assert args.preset == "plain"
    given = args.config
    opponent = given.opponent.opponent
    assert given == Config.of(env_id=given.env_id, opponent=opponent)
    flags = [*flags.split(), "--preset", "article"]
    args = commands.parse(train, flags)
    assert args.preset == "article"
    assert args.config.run.num_envs == 2048


def test_errors_become_one_line_and_a_code(capsys):
    table = [
        (UsageError("no such thing"), 2, "no such thing"),
        (FloatingPointError("diverged"), 3, "diverged"),
        (OSError(28, "No space left on device", "f"), 1, "No space left on device"),
        (MemoryError(), 1, "out of memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ]
    for error, code, words in table:

        def main(args, error=error):
            raise error

        assert run_command(command_of(main), []) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")
        assert words in err
        assert err.count("\n") == 1


def test_a_bug_is_not_hidden():
    def main(args):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_command(command_of(main), [])


def test_without_a_run_a_default_is_named_or_the_command_refuses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        cli.player_or_newest_run(None, otherwise="shipped:network") == "shipped:network"
    )
    assert cli.player_or_newest_run("random", otherwise="shipped:network") == "random"
    with pytest.raises(UsageError, match="no agent below runs/: train one"):
        cli.player_or_newest_run(None)


@pytest.mark.slow
def test_commands_say_which_seat_an_agent_learned(one_seat, monkeypatch, capsys):
    learned = "learned to move first only, as X"
    assert commands.run(evaluate, [str(one_seat)]) == 0
    assert learned in capsys.readouterr().out.splitlines()[0]
    assert commands.run(arena, [str(one_seat), "random"]) == 0
    assert f"{one_seat} {learned}" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda _: "q")
    assert commands.run(play, [str(one_seat)]) == 0
    assert f"({one_seat} {learned})" in capsys.readouterr().out
    assert commands.run(plot, [str(one_seat.parent), "--game"]) == 0
    assert f"{one_seat.parent} {learned}" in capsys.readouterr().out


def flags_of(args_type):
    """Return the flags of a command, those of its parts too."""
    flags = set()
    hints = typing.get_type_hints(args_type, include_extras=True)
    for name, hint in hints.items():
        extras = getattr(hint, "__metadata__", ())
        names = [extra.name for extra in extras if getattr(extra, "name", None)]
        if dataclasses.is_dataclass(hint):
            flags |= flags_of(hint)
        elif not {tyro.conf.Suppress, tyro.conf.Positional} & {*extras}:
            flags.add(flag_name(names[0] if names else name))
    return flags


def entries(text):
    """Return what a help says of each flag."""
    parts = re.split(r"^.{0,2}(--[\w-]+)", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(plain, parts[2::2]), strict=True))


@pytest.fixture(scope="module")
def helps():
    """Return the helps of all commands, shown by one process that loads no JAX."""
    code = """
import contextlib, io, json, sys
import commands
from jax_ttt.__main__ import COMMANDS, run_command
texts = {}
for command in COMMANDS:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert commands.run(commands.module_of(command), ["--help"]) == 0
    texts[command] = out.getvalue()
assert not {"jax", "pgx"} & sys.modules.keys()
print(json.dumps(texts))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ
        | {"PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}"}
        | {"COLUMNS": "100", "PYTHONIOENCODING": "ascii"},
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_flag_and_its_examples_are_accepted(command, helps):
    text, module = plain(helps[command]), commands.module_of(command)
    assert "\x1b" not in text
    assert flags_of(module.Args) <= entries(helps[command]).keys()
    for words in module.COMMAND.examples:
        assert f"python -m jax_ttt.{command} {words}".strip() in text
        if not {"--config", "--resume"} & {*words.split()}:  # there is no such run
            commands.parse(module, words.split())


@pytest.mark.parametrize("preset", ["default", "article"])
def test_help_shows_the_values_of_a_preset(preset, capsys):
    assert commands.run(train, ["--preset", preset, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    shown = entries(out)
    for field in PART_OF_FIELD:
        value = PRESETS[preset].value(field)
        assert f"(default: {value})" in shown[flag_name(field)]


@pytest.mark.parametrize("columns", ["40", "60", "80"])
def test_help_fits_terminals_of_any_width(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    assert commands.run(train, ["--help"]) == 0
    assert "--num-envs" in capsys.readouterr().out


def test_help_is_coloured_on_a_terminal():
    """In a process of its own, on a terminal of its own."""
    pty = pytest.importorskip("pty")
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "jax_ttt.play", "--help"],
        stdout=writer,
        stderr=writer,
        env=os.environ | {"TERM": "xterm", "PYTHONPATH": ROOT},
    )
    os.close(writer)
    text = b""
    with contextlib.suppress(OSError):  # the terminal is gone
        while piece := os.read(reader, 4096):
            text += piece
    os.close(reader)
    assert process.wait() == 0
    assert b"usage:" in text
    assert b"\x1b" in text


def test_a_saved_run_is_read_as_settings(tmp_path):
    config = PRESETS["table"].replace(num_updates=7)
    about = {
        "format_version": records.FORMAT_VERSION,
        "config": config.as_dict(),
        "preset": "table",
    }
    file = tmp_path / "config.json"
    file.write_text(json.dumps(about | {"seed": 5}))
    for path in (file, tmp_path):
        args = commands.parse(train, ["--config", str(path)])
        assert (args.config, args.preset, args.seed) == (config, "table", 5)
    flags = ["--config", str(file), "--num-envs", "9", "--seed", "6"]
    args = commands.parse(train, flags)
    assert (args.config, args.seed) == (config.replace(num_envs=9), 6)


def test_a_file_that_is_no_runs_settings_is_refused(tmp_path, capsys):
    for about, why in (
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"config": {"tau": 2.0}}, "tau must be"),
        ({"config": {"nonsense": 2}}, "nonsense"),
        ({"format_version": 3}, "format version 3; this program reads 5"),
    ):
        usual = {
            "format_version": records.FORMAT_VERSION,
            "config": {},
            "preset": "plain",
            "seed": 1,
        }
        (tmp_path / "config.json").write_text(json.dumps(usual | about))
        assert commands.run(train, ["--config", str(tmp_path)]) == 2
        err = capsys.readouterr().err
        assert why in err
        assert err.count("\n") == 1


@pytest.mark.fault
def test_a_link_is_neither_followed_nor_removed_before_it_is_replaced(tmp_path):
    link, other = tmp_path / "out.csv", tmp_path / "other"
    link.symlink_to(other)
    cli.check_output_path("--csv", link)
    assert link.is_symlink()
    assert not other.exists()
    other.write_text("mine")
    cli.check_output_path("--csv", link)
    assert other.read_text() == "mine"


@pytest.mark.parametrize("value", ["0", "1"])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(28, "No space left on device"), 1),
        (UsageError("no such thing"), 2),
        (FloatingPointError("the loss is not finite"), 3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_traceback_is_shown_where_a_variable_wants_it(
    error, code, value, monkeypatch, capsys
):
    def main(args):
        raise error

    monkeypatch.setenv("JAX_TTT_TRACEBACK", value)
    assert run_command(command_of(main), []) == code
    out, err = capsys.readouterr()
    assert out == ""
    *before, last = err.splitlines()
    assert last.startswith("error: ")
    if value == "1":
        assert before[0].startswith("Traceback")
        assert any("raise error" in line for line in before)
    else:
        assert not before
