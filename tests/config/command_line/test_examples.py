"""The examples in the help; `tests/test_cli.py` shows that they are accepted."""

from jax_ttt.config.command_line.examples import EXAMPLES, examples


def test_an_example_has_a_command_and_says_what_it_does():
    assert examples("play").splitlines()[:3] == [
        "Examples:",
        "  python -m jax_ttt.play --side o",
        "      Play second, against the agent that was saved last.",
    ]


def test_lines_are_short_and_a_command_may_have_none():
    for command in EXAMPLES:
        assert max(map(len, examples(command).splitlines())) <= 80
    assert examples("nonsense") == ""
