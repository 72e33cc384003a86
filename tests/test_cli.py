"""The command line: what is refused and how, what help says, defaults."""

import contextlib
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import jax
import pytest

from jax_ttt import __version__, arena, cli, evaluate, play, plot
from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.command_line.boxes import TOPICS
from jax_ttt.config.command_line.examples import EXAMPLES
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import PART_OF, PARTS, Config

train = importlib.import_module("jax_ttt.train")

WHOLE = "must be a whole number"
FLOAT = "must be a number"
ROOT = str(Path(cli.__file__).parents[1])
# The flags, and what stderr has to name: the flag, the value, what is allowed.
BAD: list[tuple[str, list[str]]] = [
    ("--nonsense 3", ["train has no flag --nonsense (--help lists the flags)"]),
    ("--preset table --hidden-size 64", ["--hidden-size", "with network table", "64"]),
    ("--preset table --hidden-size=128", ["--hidden-size", "with network table"]),
    ("--table-key hash", ["--table-key", "no effect with network mlp", "'hash'"]),
    ("--canonical --env-id othello", ["--canonical", "no effect with env_id othello"]),
    ("--no-canonical --env-id hex", ["--canonical", "no effect with env_id hex"]),
    ("--tau 0.1 --target-update-every 5", ["--tau", "with target_update_every 5"]),
    ("--details --quiet", ["--details must be left out", "no effect with quiet"]),
    ("--json --quiet", ["--quiet must be left out", "no effect with json"]),
    ("--sede 1", ["no flag --sede; did you mean --seed?"]),
    ("--num-env 4", ["no flag --num-env; did you mean --num-envs?"]),
    ("--learning_rat 1", ["did you mean --learning-rate, --learning-rate-"]),
    ("junk", ["train can't use 'junk'"]),
    ("--num-envs", ["--num-envs needs a value: a whole number from 1 to 1,048,576"]),
    ("--num-envs x", ["--num-envs", "'x'", WHOLE, "1 to 1,048,576"]),
    ("--num-envs 2.5", ["--num-envs", "'2.5'", WHOLE]),
    ("--num-envs 0", ["--num-envs", "got 0", "from 1 to 1,048,576"]),
    ("--num-envs -1", ["--num-envs", "got -1", "from 1 to 1,048,576"]),
    ("--num-envs 1048577", ["--num-envs", "got 1048577", "from 1 to 1,048,576"]),
    ("--num-updates 0", ["--num-updates", "got 0", "from 1 to 1,000,000,000"]),
    ("--num-updates -5", ["--num-updates", "got -5", "from 1 to"]),
    ("--num-updates 1e3", ["--num-updates", "'1e3'", WHOLE]),
    ("--num-updates 1000000001", ["--num-updates", "got 1000000001", "from 1 to"]),
    ("--learning-rate 0", ["--learning-rate", "got 0", "above 0 and at most 1e+38"]),
    ("--learning-rate -1", ["--learning-rate", "got -1", "above 0"]),
    ("--learning-rate nan", ["--learning-rate", "got nan", "above 0"]),
    ("--learning-rate inf", ["--learning-rate", "got inf", "above 0"]),
    ("--learning-rate 1e-400", ["--learning-rate", "got 0", "above 0"]),
    ("--learning-rate 1e39", ["--learning-rate", "got 1e+39", "at most 1e+38"]),
    ("--learning-rate x", ["--learning-rate", "'x'", FLOAT]),
    ("--weight-decay -0.1", ["--weight-decay", "got -0.1", "from 0 to 1"]),
    ("--weight-decay nan", ["--weight-decay", "got nan", "from 0 to 1"]),
    ("--epsilon-start 1.5", ["--epsilon-start", "got 1.5", "from 0 to 1"]),
    ("--epsilon-start nan", ["--epsilon-start", "got nan", "from 0 to 1"]),
    ("--epsilon-end -0.5", ["--epsilon-end", "got -0.5", "from 0 to 1"]),
    (
        "--epsilon-start 0.2 --epsilon-end 0.4",
        ["--epsilon-end", "got 0.4", "at most 0.2", "epsilon_start"],
    ),
    ("--tau 0", ["--tau", "got 0", "above 0 and at most 1"]),
    ("--tau 2", ["--tau", "got 2", "above 0 and at most 1"]),
    ("--tau -inf", ["--tau", "-inf", "above 0"]),
    ("--gamma 1.01", ["--gamma", "got 1.01", "from 0 to 1"]),
    ("--gamma 2", ["--gamma", "got 2", "from 0 to 1"]),
    ("--seat first", ["--seat", "both in self-play", "got 'first'"]),
    ("--opponent nobody", ["nobody: no such file", "blend:P:PLAYER"]),
    ("--opponent minimax --env-id hex", ["minimax: needs an enumerable game"]),
    (
        "--network table --env-id connect_four",
        ["--network must be mlp in connect_four", "too many boards"],
    ),
    (
        "--replay-capacity 300 --replay-start 0 --replay-batch 301",
        ["--replay-capacity", "at least 301 (replay_batch", "got 300"],
    ),
    ("--gamma -1", ["--gamma", "got -1", "from 0 to 1"]),
    ("--tremble 7", ["--tremble", "got 7", "from 0 to 1"]),
    ("--hidden-size 0", ["--hidden-size", "got 0", "from 1 to 16,384"]),
    ("--hidden-size 99999", ["--hidden-size", "got 99999", "from 1 to 16,384"]),
    ("--eval-every 0", ["--eval-every", "got 0", "from 1 to"]),
    ("--eval-games -1", ["--eval-games", "got -1", "from 0 to 1,048,576"]),
    ("--seed -1", ["--seed", "got -1", "from 0 to 4,294,967,295"]),
    ("--seed 4294967296", ["--seed", "got 4294967296", "to 4,294,967,295"]),
    ("--seed 1.5", ["--seed", "'1.5'", WHOLE, "0 to 4,294,967,295"]),
    ("--seed x", ["--seed", "'x'", WHOLE, "0 to 4,294,967,295"]),
    ("--preset best", ["--preset", "'best'", *get_args(Preset)]),
    ("--preset=best", ["--preset", "'best'", *get_args(Preset)]),
    ("--env-id chess", ["--env-id", "'chess'", *get_args(EnvId)]),
    ("--env-id ../../etc", ["--env-id", "'../../etc'", *get_args(EnvId)]),
    ("--device abacus", ["--device must be one of auto, cpu, gpu, tpu, got 'abacus'"]),
    ("--canonical maybe", ["--canonical takes no value, got 'maybe'"]),
    (
        "--until-proven --env-id connect_four",
        ["--until-proven", "connect_four", "tic_tac_toe"],
    ),
]


def exit_code(argv, command=train.main):
    """Return the exit code, whether it is returned or raised by the parser."""
    try:
        return command(argv)
    except SystemExit as stop:
        return stop.code


def plain(text):
    """Return the words of a text without boxes and line breaks."""
    return " ".join(re.sub("[─│╭╮╰╯]", " ", text).split())


@pytest.fixture
def empty_dir(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.fault
@pytest.mark.parametrize(("flags", "named"), BAD, ids=[flags for flags, _ in BAD])
def test_bad_flags_are_refused_by_name(flags, named, empty_dir, capsys):
    assert exit_code([*flags.split(), "--run-dir", "new"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert not [words for words in named if words not in plain(err)], err
    assert list(empty_dir.iterdir()) == []


def test_an_empty_value_is_refused(empty_dir, capsys):
    assert exit_code(["--num-envs", ""]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--num-envs" in err
    assert list(empty_dir.iterdir()) == []


@pytest.mark.fault
@pytest.mark.parametrize("kind", ["gpu", "tpu"])
def test_a_device_that_is_absent_is_refused(kind, empty_dir, capsys):

    if jax.default_backend() == kind:
        pytest.skip("this machine has one")
    assert train.main(["--device", kind]) == 2
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
        *(
            pytest.param(command, platform, marks=pytest.mark.slow)
            for command, platform in [
                *(("train", "cuda"), ("train", "tpu")),
                ("evaluate random", "cuda"),
            ]
        ),
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


@pytest.mark.fault
def test_flags_are_refused_before_jax_is_imported(empty_dir):
    """A wrong flag costs a blink: no half second, no device."""
    program = """
import importlib
import sys
from jax_ttt import evaluate
train = importlib.import_module("jax_ttt.train")
bad = ["--sede 1", "--num-envs x", "--tau nan", "--epsilon-end 1.5", "--seed -1",
       "--preset best", "--env-id chess", "--until-proven --env-id hex", "--help"]
for main, flags in [(train.main, f) for f in bad] + [(evaluate.main, "x --seed -1")]:
    try:
        code = main(flags.split())
    except SystemExit as stop:
        code = stop.code
    assert code == (0 if flags == "--help" else 2), (flags, code)
    assert "jax" not in sys.modules, flags
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(str(train.__file__)).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    assert list(empty_dir.iterdir()) == []


def test_help_names_every_setting_with_its_text(capsys):
    assert exit_code(["--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    text = plain(out)
    for field in PART_OF:
        assert cli.flag(field) in text
    for name in [
        "seed",
        "preset",
        "run-dir",
        "device",
        "until-proven",
        "quiet",
        "json",
    ]:
        assert f"--{name}" in text
    for words in [
        "The PGX game to learn.",
        "Discount per move; its sign comes from the player to move next.",
        "Neurons in each hidden layer of an mlp. 1 to 16384. (default: 128)",
        "Exit codes: 0 done, 1 failed, 2 bad flags, 3 diverged",
    ]:
        assert words in text


def test_help_of_a_preset_shows_its_values(capsys):
    exit_code(["--preset", "article", "--help"])
    assert "(default: 2048)" in plain(capsys.readouterr().out)


def test_version(capsys, empty_dir):
    assert train.main(["--version"]) == 0
    assert capsys.readouterr().out == f"jax_ttt {__version__}\n"
    assert list(empty_dir.iterdir()) == []


def test_good_flags_parse():
    flags = (
        "--env-id connect_four --num-envs 4 --num-updates 6 --learning-rate 1e-3 "
        "--weight-decay 0.01 --epsilon-start 0.9 --epsilon-end 0.9 --tau 1 --gamma 0.5 "
        "--tremble 0 --no-canonical --lockstep --hidden-size 16 --eval-every 3 "
        "--eval-games 0 --seed 4294967295 --run-dir x --device cpu --quiet"
    )
    args = cli.parse_settings(train.Args, flags.split(), "train")
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
    assert (args.seed, str(args.run_dir), args.device) == (2**32 - 1, "x", "cpu")
    assert (args.quiet, args.json, args.until_proven) == (True, False, False)


@pytest.mark.parametrize("preset", get_args(Preset))
def test_a_preset_gives_the_defaults(preset):
    assert (
        cli.parse_settings(train.Args, ["--preset", preset], "train").config
        == PRESETS[preset]
    )


@pytest.mark.parametrize(
    "flags",
    ["--preset article --num-envs 4", "--num-envs=4 --preset=article"],
)
def test_flags_change_a_preset_wherever_they_stand(flags):
    args = cli.parse_settings(train.Args, flags.split(), "train")
    assert args.preset == "article"
    expected = PRESETS["article"].replace(num_envs=4)
    assert args.config == expected


def test_without_flags_the_config_is_the_default():
    args = cli.parse_settings(train.Args, [], "train")
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
    about = {"format_version": 2, "preset": "plain", "seed": 1}
    about["config"] = {"env_id": "connect_four"}
    (tmp_path / "config.json").write_text(json.dumps(about))
    words = flags.replace("FILE", str(tmp_path)).split()
    assert cli.parse_settings(train.Args, words, "train").snapshots == kept


@pytest.mark.parametrize(
    "flags", ["--env-id othello", "--opponent=random", "--opponent mcts:9"]
)
def test_other_games_and_opponents_start_from_plain_settings(flags):
    args = cli.parse_settings(train.Args, flags.split(), "train")
    assert args.preset == "plain"
    given = args.config
    opponent = given.opponent.opponent
    assert given == Config.of(env_id=given.env_id, opponent=opponent)
    flags = [*flags.split(), "--preset", "article"]
    args = cli.parse_settings(train.Args, flags, "train")
    assert args.preset == "article"
    assert args.config.run.num_envs == 2048


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("", "agent"),
        ("x --seed -1", "--seed"),
        ("x --env-id chess", "--env-id"),
        ("x --jsno", "--jsno"),
        ("x --env-id connect_four --policy-csv y.csv", "--policy-csv"),
    ],
)
def test_evaluate_refuses_bad_flags(flags, named, empty_dir, capsys):
    assert exit_code(flags.split(), evaluate.main) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert named in err.lower()
    assert list(empty_dir.iterdir()) == []


def test_errors_become_one_line_and_a_code(capsys):
    table = [
        (cli.UsageError("no such thing"), 2, "no such thing"),
        (FloatingPointError("diverged"), 3, "diverged"),
        (OSError(28, "No space left on device", "f"), 1, "No space left on device"),
        (MemoryError(), 1, "out of memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ]
    for error, code, words in table:

        @cli.guarded
        def command(argv, error=error):
            raise error

        assert command([]) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")
        assert words in err
        assert err.count("\n") == 1


def test_a_process_of_its_own_collects_rarely(monkeypatch):
    asked = []
    monkeypatch.setattr(cli.process, "collect_rarely", lambda: asked.append(1))
    command = cli.guarded(lambda argv: 0)
    assert command([]) == 0
    assert not asked
    assert command(None) == 0
    assert asked


def test_a_bug_is_not_hidden():
    @cli.guarded
    def command(argv):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command([])


def test_without_a_run_a_default_is_named_or_the_command_refuses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.named_or_newest(None, otherwise="shipped:network") == "shipped:network"
    assert cli.named_or_newest("random", otherwise="shipped:network") == "random"
    with pytest.raises(cli.UsageError, match="no agent below runs/: train one"):
        cli.named_or_newest(None)


@pytest.mark.slow
def test_commands_say_which_seat_an_agent_learned(one_seat, monkeypatch, capsys):
    learned = "learned to move first only, as X"
    assert evaluate.main([str(one_seat)]) == 0
    assert learned in capsys.readouterr().out.splitlines()[0]
    assert arena.main([str(one_seat), "random"]) == 0
    assert f"{one_seat} {learned}" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda _: "q")
    assert play.main([str(one_seat)]) == 0
    assert f"({one_seat} {learned})" in capsys.readouterr().out
    assert plot.main([str(one_seat.parent), "--game"]) == 0
    assert f"{one_seat.parent} {learned}" in capsys.readouterr().out


COMMANDS = ["train", "evaluate", "play", "arena", "sweep", "plot"]


@pytest.fixture(scope="module")
def helps():
    """Return the helps that were shown, by command and width."""
    return {}


@pytest.fixture
def shown(helps, monkeypatch, capsys):
    """Return the lines of a command's help at a width."""

    def show(command, columns):
        if (command, columns) in helps:
            return helps[command, columns]
        monkeypatch.setenv("COLUMNS", str(columns))
        module = importlib.import_module(f"jax_ttt.{command}")
        assert exit_code(["--help"], module.main) == 0
        out, err = capsys.readouterr()
        assert err == ""
        helps[command, columns] = out.splitlines()
        return helps[command, columns]

    return show


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_wraps_at_the_width_and_never_in_a_number(command, columns, shown):
    lines = shown(command, columns)
    assert columns - 12 < max(map(len, lines)) <= columns
    assert "\x1b" not in "".join(lines)
    texts = [line.strip("│ ") for line in lines]
    for text, following in itertools.pairwise(texts):
        whole = re.search(r"\d,?$", text) and re.match(r"\d", following)
        assert not whole, (text, following)
        assert not text.endswith("None"), text
        short = re.match(r"\S{1,20}\)", following)
        assert not (text.endswith("(default:") and short), (text, following)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_are_accepted(command, shown):
    text = "\n".join(shown(command, 80))
    module = importlib.import_module(f"jax_ttt.{command}")
    begin = f"  python -m jax_ttt.{command}"
    given = [line for line in text.splitlines() if line.startswith(begin)]
    assert [line.removeprefix(begin).strip() for line in given] == [*EXAMPLES[command]]
    for words in EXAMPLES[command]:
        if not {"--config", "--resume"} & {*words.split()}:  # there is no such run
            parse = cli.parse_settings if command in ("train", "sweep") else cli.parse
            parse(module.Args, words.split(), command)


@pytest.mark.parametrize("command", ["train", "sweep"])
def test_help_has_a_box_for_each_topic_in_order_of_use(command, shown):
    """Ten settings first, then the boxes, each with one sentence."""
    lines = shown(command, 80)
    words = [text for line in lines if (text := plain(line).strip("- "))]
    titles = ["options", *(f"{topic} options" for topic in TOPICS)]
    assert [title for title in words if title in titles] == titles
    for title, topic in zip(titles[1:], TOPICS, strict=True):
        sentence = words[words.index(title) + 1]
        assert sentence == TOPICS[topic]
        assert sentence.count(".") == 1
    ends = [plain(line).strip("- ") for line in lines]
    box = lines[ends.index("options") : ends.index("exploration options")]
    named = [line.split()[0] for line in box if line.startswith("  --")]
    first = ["preset", "env-id", "num-updates", "num-envs", "learning-rate", "opponent"]
    assert set(named[:10]) >= {f"--{name}" for name in first}
    assert named[10:] in ([], ["--version"]), "ten, and what is no setting"


def test_every_setting_has_its_box():
    parts = {topic for topic in TOPICS if topic in PARTS}
    assert parts == PARTS.keys() - {"run"}, "its flags are in the first box"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_switch_reads_the_right_way_round(command, shown):
    text = plain("\n".join(shown(command, 80)))
    assert "default: False" not in text
    assert "default: True" not in text
    if command == "train":
        assert "(default: --canonical)" in text
        assert "(default: --no-double)" in text


@pytest.mark.parametrize(("variable", "coloured"), [({}, True), ({"NO_COLOR": "1"}, 0)])
def test_help_is_coloured_on_a_terminal_unless_no_color_is_set(variable, coloured):
    """In a process of its own, on a terminal of its own."""
    pty = pytest.importorskip("pty")
    reader, writer = pty.openpty()
    plain_env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "jax_ttt.play", "--help"],
        stdout=writer,
        stderr=writer,
        env=plain_env | {"TERM": "xterm", "PYTHONPATH": ROOT} | variable,
    )
    os.close(writer)
    text = b""
    with contextlib.suppress(OSError):  # the terminal is gone
        while piece := os.read(reader, 4096):
            text += piece
    os.close(reader)
    assert process.wait() == 0
    assert b"usage:" in text
    assert (b"\x1b" in text) == bool(coloured)


def test_a_saved_run_is_read_as_settings(tmp_path):
    config = PRESETS["table"].replace(num_updates=7)
    about = {"format_version": 2, "config": config.as_dict(), "preset": "table"}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(about | {"seed": 5}))
    for path in (file, tmp_path):
        args = cli.parse_settings(train.Args, ["--config", str(path)], "train")
        assert (args.config, args.preset, args.seed) == (config, "table", 5)
    flags = ["--config", str(file), "--num-envs", "9", "--seed", "6"]
    args = cli.parse_settings(train.Args, flags, "train")
    assert (args.config, args.seed) == (config.replace(num_envs=9), 6)


def test_a_file_that_is_no_runs_settings_is_refused(tmp_path, capsys):
    for about, why in (
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"config": {"tau": 2.0}}, "tau must be"),
        ({"config": {"nonsense": 2}}, "nonsense"),
        ({"format_version": 99}, "format version 99"),
    ):
        usual = {"format_version": 2, "config": {}, "preset": "plain", "seed": 1}
        (tmp_path / "config.json").write_text(json.dumps(usual | about))
        assert train.main(["--config", str(tmp_path)]) == 2
        err = capsys.readouterr().err
        assert why in err
        assert err.count("\n") == 1


@pytest.mark.fault
def test_a_link_is_neither_followed_nor_removed_before_it_is_replaced(tmp_path):
    link, other = tmp_path / "out.csv", tmp_path / "other"
    link.symlink_to(other)
    cli.check_output("--csv", link)
    assert link.is_symlink()
    assert not other.exists()
    other.write_text("mine")
    cli.check_output("--csv", link)
    assert other.read_text() == "mine"
