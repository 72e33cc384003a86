"""The parts that commands share: help, defaults, errors. See also `test_refused.py`."""

import contextlib
import dataclasses
import io
import json
import re
from pathlib import Path

import commands
import pytest

import jax_ttt
from jax_ttt import cli, evaluate, play, sweep
from jax_ttt.__main__ import COMMANDS, run_command
from jax_ttt.config import presets
from jax_ttt.config.errors import OTHER_NAMES, Refused, flag_name, similar_words
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config, setting_types
from jax_ttt.files import json_records, run_folder
from jax_ttt.flags import field_texts
from jax_ttt.runtime import atomic_files

train = commands.module_of("train")


@dataclasses.dataclass
class NoArgs:
    """Do something."""


def failing_command(error):
    """Return a command without flags that raises an error."""

    def main(args):
        raise error

    return cli.Command("jax_ttt.none", NoArgs, main)


def unframed(text):
    """Return the words of a text without frames and line breaks."""
    return " ".join(re.sub("[─│╭╮╰╯]", " ", text).split())


def parse_train(flags):
    return commands.parse(train, flags.split())


def test_flags_become_settings_and_arguments():
    args = parse_train(
        "--env-id connect_four --num-envs 4 --learning-rate 1e-3 --epsilon-start 0.9 "
        "--no-canonical --lockstep --tau=1 --eval-games 0 --seed 4294967295 "
        "--run-dir x --device cpu --quiet"
    )
    assert args.config == Config.of(
        env_id="connect_four",
        num_envs=4,
        learning_rate=1e-3,
        epsilon_start=0.9,
        canonical=False,
        lockstep=True,
        tau=1.0,
        eval_games=0,
    )
    assert (args.seed, args.run_dir) == (2**32 - 1, Path("x"))
    assert args.machine.device == "cpu"
    cluster = "--coordinator [::1]:65535 --num-processes 4 --process-id 3"
    args = parse_train(f"--quiet --distributed --devices all {cluster}")
    assert args.parallel.coordinator == "[::1]:65535"
    for flags in ("", "--devices 8", "--distributed"):
        assert parse_train(flags).parallel.is_spread == bool(flags)
    assert (args.quiet, args.json, args.until_proven) == (True, False, False)


def test_each_preset_gives_the_defaults():
    for preset, config in PRESETS.items():
        assert parse_train(f"--preset {preset}").config == config


@pytest.mark.parametrize(
    ("flags", "preset", "changes"),
    [
        ("", "default", {}),
        ("--preset article --num-envs 4", "article", {"num_envs": 4}),
        ("--num-envs=4 --preset=article", "article", {"num_envs": 4}),
        ("--env-id tic_tac_toe --opponent self", "default", {}),
        ("--env-id othello", "plain", {"env_id": "othello"}),
        ("--opponent mcts:9", "plain", {"opponent": "mcts:9"}),
        ("--opponent=random --preset go-first", "go-first", {"opponent": "random"}),
        # The end of a schedule keeps its ratio to the start.
        ("--learning-rate=0.01", "default", {"learning_rate": 0.01}),
        ("--learning-rate 0.1 --preset tictac-q", "tictac-q", {"learning_rate": 0.1}),
    ],
)
def test_the_preset_is_named_or_implied_and_flags_change_it(flags, preset, changes):
    args = parse_train(flags)
    assert args.preset == preset
    assert args.config == PRESETS[preset].replace(**changes)


def test_choices_may_be_in_capitals():
    args = parse_train("--preset TABLE --env-id Tic_Tac_Toe")
    assert (args.preset, args.config) == ("table", PRESETS["table"])
    for side in ("X", "O", "x", "o", "First", "second", "random"):
        assert commands.parse(play, ["--side", side]).side == side.lower()


@pytest.mark.fault
@pytest.mark.parametrize(
    "word", ["", "a\nb", "\x1b[31mred", "\udcff", "--seed=", "--fo\no", "--run-dir="]
)
def test_a_word_that_is_empty_or_that_a_line_can_not_show_is_refused(word):
    for words in ([word], ["--run-dir", word], ["--grid", "tau=1", word]):
        assert commands.refusal(sweep, *words).startswith("can't use ")


def test_none_is_the_value_of_a_flag_that_is_left_out_and_words_may_follow_dashes():
    args = commands.parse(commands.module_of("arena"), ["random", "--csv", "None"])
    assert (args.csv, args.players) == (None, ("random",))
    args = commands.parse(evaluate, ["--seed", "3", "--", "random"])
    assert (args.agent, args.seed) == ("random", 3)


SAVED = {"version": 3, "preset": "plain", "seed": 5}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", True),
        ("--env-id connect_four", False),
        ("--env-id=connect_four --snapshots", True),
        ("--no-snapshots", False),
        ("--config FOLDER", False),
        ("--config FOLDER --env-id tic_tac_toe", True),
    ],
)
def test_snapshots_are_the_default_where_the_game_is_enumerable(
    flags, expected, tmp_path
):
    settings = SAVED | {"config": {"env_id": "connect_four"}}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    assert parse_train(flags.replace("FOLDER", str(tmp_path))).snapshots == expected


def test_the_settings_of_a_saved_run_are_defaults(tmp_path):
    config = PRESETS["table"].replace(num_updates=7)
    path = tmp_path / "config.json"
    saved = {"config": json_records.to_dict(config), "preset": "table"}
    path.write_text(json.dumps(SAVED | saved))
    for name in (path, tmp_path):
        args = parse_train(f"--config {name}")
        assert (args.config, args.preset, args.seed) == (config, "table", 5)
    args = parse_train(f"--config {path} --learning-rate 0.1 --seed 6")
    assert (args.config, args.seed) == (config.replace(learning_rate=0.1), 6)


@pytest.mark.parametrize("head", ["", "[mine]\n"])
def test_the_settings_of_a_file_of_ones_own_are_defaults(head, tmp_path):
    """With the name of the table or without it, as one copies it from the presets."""
    path = tmp_path / "mine.toml"
    path.write_text(f'{head}base = "table"\nnum_updates = 7\n')
    args = parse_train(f"--config {path} --num-envs 9")
    config = PRESETS["table"].replace(num_updates=7, num_envs=9)
    assert (args.config, args.preset) == (config, "table")
    path.write_text(f"{head}gamma = 0.5\n")
    args = parse_train(f"--config {path} --opponent random --env-id connect_4x4")
    config = Config.of(env_id="connect_4x4", opponent="random", gamma=0.5)
    assert (args.config, args.preset) == (config, "plain")
    path.write_text(f"{head}base = '_table'\n")
    args = parse_train(f"--config {path}")
    assert (args.config.network, args.preset) == ("table", "plain")


def test_a_table_of_the_presets_gives_its_settings_in_a_file_too(tmp_path):
    tables = presets.PATH.read_text().split("\n[")[1:]
    assert len(tables) == len(presets.TABLES)
    path = tmp_path / "mine.toml"
    for table, config in zip(tables, presets.TABLES.values(), strict=True):
        path.write_text(f"[{table}", "utf-8-sig")
        assert run_folder.read_own_settings(path)[1] == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gama = 0.9", "gama must be the name of a setting, .*; did you mean gamma?"),
        ("gamma = 2", "gamma must be a number from 0 to 1, got 2"),
        ("base = 'tabel'", "base must be one of .*; did you mean table?"),
        ("[one]\ntau = 0.1\n[two]\ntau = 0.2", "has more than one table"),
        ("tau = 0.1\n[mine]\ntau = 0.2", "has more than one table"),
        ("seed = 3", "seed is not a setting; use --seed"),
        ("preset = 'table'", "preset is not a setting; name the preset by base"),
        (f"num_envs = 0x{'f' * 9999}", "num_envs must be .*, got a very long int"),
        ("tau = ", "not TOML"),
        (f"tau = {'[' * 9999}", "not TOML"),
    ],
)
def test_wrong_settings_of_ones_own_are_refused(text, message, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    line = commands.refusal(train, "--config", path)
    assert re.match(f"{re.escape(str(path))}: {message}", line)


@pytest.mark.parametrize("value", ["0", "1"])
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (Refused("no such thing"), 2, "no such thing"),
        (FloatingPointError("diverged"), 3, "diverged"),
        (OSError(28, "No space left on device", "f"), 1, "No space left on device"),
        (MemoryError(), 1, "out of memory: lower --num-envs, "),
        (RuntimeError("RESOURCE_EXHAUSTED: 9 bytes"), 1, "out of memory: lower "),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_is_one_line_and_a_code_and_its_traceback_is_optional(
    error, code, words, value, monkeypatch, capsys
):
    monkeypatch.setenv("JAX_TTT_TRACEBACK", value)
    assert run_command(failing_command(error), []) == code
    out, err = capsys.readouterr()
    assert out == ""
    *traceback_lines, last_line = err.splitlines()
    assert last_line.startswith("error: ")
    assert words in last_line
    assert any("raise error" in line for line in traceback_lines) == (value == "1")
    assert bool(traceback_lines) == (value == "1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("arena random --svg x.svg", "--svg needs matplotlib, which is not installed"),
        ("plot RUN --game --svg x.png", "--svg x.png needs cairosvg"),
    ],
)
def test_a_missing_package_is_named_before_anything_begins(
    line, message, tiny_run, monkeypatch
):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(cli, "set_up_device", lambda *args: pytest.fail("begun"))
    command, *words = line.replace("RUN", str(tiny_run[0])).split()
    assert message in commands.refusal(commands.module_of(command), *words)


def test_a_bug_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        run_command(failing_command(ZeroDivisionError()), [])


def flag_helps(text):
    """Return the text of each flag in a help."""
    parts = re.split(r"^.{0,2}(--[\w-]+)", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(unframed, parts[2::2]), strict=True))


WITHOUT_FLAG = {
    "own",
    "given_fields",
    "source",
    "latest",
    "files",
    "random_numbers",
    "say",
}
"""Fields of commands' arguments that no flag sets."""


def test_what_people_mean_by_the_words_of_other_programs_is_found():
    ours = [*setting_types(), "games", *jax_ttt.__all__]
    for word, meant in OTHER_NAMES.items():
        assert similar_words(word, ours) == [*meant]


@pytest.fixture(scope="module")
def helps():
    """Return the help of each command."""
    texts = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        for command in COMMANDS:
            out = io.TextIOWrapper(io.BytesIO(), "utf-8")
            with contextlib.redirect_stdout(out):
                assert commands.exit_code(commands.module_of(command), ["--help"]) == 0
            out.seek(0)
            texts[command] = out.read()
    return texts


def fields_with_flags(record):
    """Return the names of the fields that flags set, in a dataclass and within it."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if dataclasses.is_dataclass(value):
            yield from fields_with_flags(value)
        elif field.name not in WITHOUT_FLAG:
            yield field.name


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_has_all_flags_and_its_examples_are_accepted(command, helps):
    text, module = unframed(helps[command]), commands.module_of(command)
    for word in ("\x1b", "{None}", "(default: None)", "(default: )", "config.run"):
        assert word not in text  # colours are for terminals
    _, *lines = helps[command].splitlines()  # after the usage
    assert max(map(len, lines)) <= 80
    for field in fields_with_flags(module.Args()):
        flag = flag_name("config" if field == "saved" else field)
        assert re.search(rf"{flag}\b(?!-)|\[{field.upper()}\b", text), flag
    for words in module.COMMAND.examples:
        assert f"python -m jax_ttt.{command} {words}".strip() in text
        if not {"--config", "--resume"} & {*words.split()}:  # there is no such run
            commands.parse(module, words.split())


@pytest.mark.parametrize("command", ["train", "sweep"])
def test_the_flags_that_people_use_most_come_first(command, helps):
    first, _, others = helps[command].partition("\u2570")  # a frame's corner
    assert len(first.splitlines()) < 80
    for name in ("--preset", "--env-id", "--num-updates", "--device", "--json"):
        assert f"\u2502 {name} " in first
        assert f"\u2502 {name} " not in others


def test_help_shows_each_setting_with_its_text_and_its_value_in_the_preset():
    printed = commands.run(train, "--preset", "article", "--help")
    helps, texts = flag_helps(printed.out), field_texts(Config)
    for field in setting_types():
        shown = helps[flag_name(field)]
        assert texts[field] in shown
        value = getattr(PRESETS["article"], field)
        assert ("default:" in shown) == (value is not None)
        assert value is None or f"(default: {value})" in shown


@pytest.mark.fault
def test_a_checked_link_is_neither_followed_nor_removed(tmp_path):
    link, target = tmp_path / "out.csv", tmp_path / "target"
    link.symlink_to(target)
    atomic_files.check_output_path("--csv", link)
    assert link.is_symlink()
    assert not target.exists()
