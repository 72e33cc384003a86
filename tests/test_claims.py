"""Figures that several pages state: they are the same everywhere."""

import re
from pathlib import Path

import numpy as np
import pytest

from jax_ttt.evaluation import statistics

ROOT = Path(__file__).parents[1]
README, PROOF, PERFORMANCE, PUBLISHED, CONNECT_FOUR, SHIPPED = (
    (ROOT / name).read_text("utf-8")
    for name in (
        "README.md",
        "docs/proof.md",
        "docs/performance.md",
        "docs/published.md",
        "docs/connect_four.md",
        "docs/shipped_agents.md",
    )
)
RATE = re.compile(
    r"^(\w+): (\d+) of 64 seeds \(1000 to 1063\) proven unbeatable "
    r"\(95 % interval: ([\d.]+) to ([\d.]+) %\); not proven: (.*)$",
    re.MULTILINE,
)
MEASURED = ("default", "table", "article")
SEATS = ("first", "second")
MEAN_WINS = r"mean wins vs\. random"
OURS = re.compile(r"(?:\w+, )?20 seeds").fullmatch
"""Whether a row is of our own agents."""
PAIRS = [  # each learner's row in the short table, and where its figures are printed
    ("JAX DQN [1]", "article", "its code, 10 seeds"),
    ("Q-table [2]", "tictac-q", "its code, 3 seeds"),
    ("network [2]", "tictac-neural", "published"),
    ("double DQN as X [3]", "go-first", "its code, 1 seed"),
    ("double DQN as O [3]", "go-second", "its code, 1 seed"),
    ("hashed Q-table [4]", "matlab", "its saved tables"),
    ("web page [5]", "web", "its code, 10 runs"),
    ("", "default", None),
    ("", "table", None),
]


def search(pattern, text, flags=0):
    """Return where the pattern first stands; it has to stand somewhere."""
    match = re.search(pattern, text, flags)
    assert match, f"not in the page: {pattern}"
    return match


def seeds(text):
    return [int(seed) for seed in re.findall(r"\d{4}", text)]


def one(pattern, text):
    """Return the groups of the only match."""
    (found,) = re.findall(pattern, " ".join(text.split()))
    return found


@pytest.fixture(scope="module")
def rates():
    """Return what the benchmark printed: proven agents, interval, failing seeds."""
    found = {name: row for name, *row in RATE.findall(PERFORMANCE)}
    assert found.keys() == set(MEASURED)
    return found


def of_preset(name, what):
    """Return a line of the benchmark's output, of 64 seeds: its median and range."""
    pattern = (
        rf"{name}: \d+ of 64 .*?\n(?:{name}.*\n)*?{name}, {what} +(\S+) \S+ +(\(.*?\))"
    )
    ((median, span),) = re.findall(pattern, PERFORMANCE)
    return f"{median} {span}"


@pytest.mark.parametrize("name", MEASURED)
def test_a_pass_rate_counts_the_seeds_that_are_not_named(rates, name):
    proven, low, high, failing = rates[name]
    named = seeds(failing)
    assert (failing == "none") == (named == [])
    assert int(proven) == 64 - len(named)
    assert named == sorted(set(named))
    assert set(named) <= set(range(1000, 1064))
    interval = statistics.wilson_interval(int(proven), 64)
    assert [f"{100 * end:.1f}" for end in interval] == [low, high]


def readme_row(learner):
    """Return a row of the README's results: proven agents, wins in %, seconds."""
    row = search(rf"^\| {re.escape(learner)}.* \|$", README, re.MULTILINE)[0]
    return [cell.strip(" *%") for cell in row.strip("|").split("|")[1:]]


def medians(name, *lines):
    return [of_preset(name, line).partition(" ")[0] for line in lines]


@pytest.mark.parametrize("name", MEASURED)
def test_the_readme_states_what_the_benchmark_printed(rates, name):
    proven, wins, seconds = readme_row(f"`{name}`")
    assert proven == f"{rates[name][0]} of 64"
    assert [wins, seconds] == medians(name, MEAN_WINS, r"all [\d,]+ updates")


def test_the_pages_name_the_same_failing_seeds(rates):
    named = seeds(rates["article"][-1])
    assert len(named) == 12
    first = [seed for seed in named if seed < 1020]
    section = PUBLISHED.rpartition("\narticle: ")[2].partition("\ntictac-q: ")[0]
    assert seeds(one(r"Beatable seeds: ([\d, ]+)\.", section)) == first
    rows = published_rows("article")
    (proven,) = (row[1] for label, row in rows.items() if OURS(label))
    assert proven == f"{20 - len(first)} of 20"


def test_the_text_states_the_same_pass_rates(rates):
    default, table, article = (rates[name][0] for name in MEASURED)
    assert (default, table, article) == ("64", "64", "52")
    found = one(
        r"of 64 agents trained by its algorithm and settings "
        r"\(`--preset article`\), (\d+) are unbeatable",
        PROOF,
    )
    assert found == article
    found = one(
        r"(\d+) of 64 agents of `default` are proven, (\d+) of 64 of `article`",
        PERFORMANCE,
    )
    assert found == (default, article)
    assert one(r"default (\d+) of 64 \(94\.3 to 100\.0 %\)", PERFORMANCE) == default


def published_rows(name):
    """Return the figures under a system's title in the printed table, by source."""
    section = search(rf"\n{name}: .*\n((?:  .*\n)+)\n", PUBLISHED)[1]
    rows = {}
    for line in section.splitlines():
        source, figures = line.strip().split("  ", 1)
        wins = re.findall(r"([\d.]+)/[\d.]+/[\d.]+", figures)
        proven = re.findall(r"\d+ of \d+", figures)
        seconds = re.sub(r"\S+/\S+|\(.*?\)|\d+ of \d+", "", figures).strip()
        rows[source] = [" / ".join(wins), *(proven or [""]), seconds]
    return rows


@pytest.mark.parametrize(("learner", "name", "source"), PAIRS)
def test_the_short_table_states_the_figures_that_were_printed(learner, name, source):
    row = search(
        rf"^\| {re.escape(learner)} ?\|(.*\| `{name}` .*)\|$", PUBLISHED, re.MULTILINE
    )
    cells = [cell.strip() for cell in row[1].split("|")]
    rows = published_rows(name)
    (ours,) = (row for label, row in rows.items() if OURS(label))
    assert cells[-3:] == ours
    if source:
        theirs = rows[source]
        if name == "tictac-neural":  # its time stands in a line of its own
            theirs[2] = rows["its code, by 2,000 games"][2]
        assert cells[:3] == [cell or "not known" for cell in theirs]


TEXT = re.sub(r"^```.*?^```", "", PERFORMANCE, flags=re.MULTILINE | re.DOTALL)


def printed(label):
    """Return the figures of the benchmark's only line so named: median and range."""
    escaped = re.escape(label)
    pattern = rf"^{escaped}  +([\d.,]+) (\S+) +\(([\d.,]+ to [\d.,]+)\)"
    ((median, unit, span),) = re.findall(pattern, PERFORMANCE, re.MULTILINE)
    return median, unit, span


@pytest.mark.parametrize(
    ("question", "label", "compared"),
    [
        (
            "an agent of `default`, from the start of the process",
            "train, cold cache, start to proven and saved",
            "the article's program, start to saved, 2 x",
        ),
        ("the same", "train, warm cache, start to proven and saved", None),
        ("the article's algorithm", "article, one program", "article, a plain loop"),
        ("an exact evaluation", "exact evaluation", None),
        ("agents per minute", "agents 64, loop: the most a minute", None),
    ],
)
def test_the_summary_on_performance_states_what_was_printed(question, label, compared):
    row = search(rf"^\| {question}.*$", TEXT, re.MULTILINE)[0]
    figures = [cell.strip() for cell in row.strip("|").split("|")[1:]]
    for cell, name in zip(figures, (label, compared), strict=True):
        assert (cell == "") == (name is None)
        if name:
            median, _, span = printed(name)
            assert search(r"^[\d.,]+", cell)[0] == median
            assert re.findall(r"\((.* to .*)\)", cell) in ([], [span])


@pytest.mark.parametrize(
    "label", ["agents 64, vmap: each one's", "agents 64, loop: each one's"]
)
def test_the_text_on_performance_states_what_was_printed(label):
    median, unit, span = printed(label)
    assert f"{median} {unit.removesuffix('/update')} ({span})" in " ".join(TEXT.split())


def test_the_text_states_the_updates_and_seconds_until_an_agent_stays_proven():
    text = " ".join(TEXT.split())
    stays = {
        n: of_preset(n, r"until it stays proven(?= +[\d,]+ upd)") for n in MEASURED
    }
    assert search(r"after (\S+) updates (\(.*?\))", text).groups() == (
        tuple(stays["default"].split(" ", 1))
    )
    assert f"it takes {stays['article']}" in text
    seconds = of_preset("default", r"until it stays proven(?= +[\d.]+ s )")
    whole = of_preset("default", "all 1,800 updates")
    row = f"| {seconds.replace(' ', ' s ', 1)} | {whole.split()[0]} s for all 1,800"
    assert row in text


def test_the_pages_state_what_openspiel_came_to():
    name = "OpenSpiel 2.0.2"
    proven, failing = search(
        rf"^{name}: (\d of 5) seeds .*not proven: (.*)$", PERFORMANCE, re.MULTILINE
    ).groups()
    cells = PUBLISHED.partition("\n| OpenSpiel's")[2].split("|")[1:4]
    wins = [printed(f"{name}, wins vs. random as {seat}")[0] for seat in SEATS]
    seconds = printed(f"{name}, all 200,000 episodes")[0]
    assert [cell.strip() for cell in cells] == [
        " / ".join(f"{float(share):.2f}" for share in wins),
        proven,
        f"{float(seconds):.0f}",
    ]
    mean_wins = printed(f"{name}, mean wins vs. random")[0]
    assert readme_row("OpenSpiel's") == [proven, mean_wins, seconds]
    last = PUBLISHED.partition("[OpenSpiel's learner]")[2].partition("\n\n")[0]
    last = " ".join(last.split())
    named = search(r"agents of seeds ([\d, and]+) end beatable", last)[1]
    assert seeds(named) == seeds(failing)
    assert int(proven[0]) == 5 - len(seeds(failing))


def test_the_pages_state_the_same_proofs_in_connect_four():
    firsts = README.partition("\n\nIt is for")[0]
    for size in ("4x4", "5x4"):
        row = rf"`connect-{size}` \| .* in both seats on (\d+ of \d+)"
        proven = search(row, CONNECT_FOUR)[1]
        assert f"{size.replace('x', ' x ')} ({proven})" in firsts
    row = r"\| `shipped:connect-5x4` \| as \w+ \| ([\d,]+) \| (\d+) \|"
    last = " | ".join(x for seat in re.findall(row, SHIPPED) for x in seat)
    assert f"| 10 | {last} |" in CONNECT_FOUR


def test_the_pages_state_the_same_marks_in_the_exam():
    row = search(r"\| `shipped:connect-7x6` (\| \d[^\n]*\|)$", SHIPPED, re.MULTILINE)[1]
    everything, _, tactical = re.findall(r"([\d.]+)% \(", row)
    agent = search(r"\| the agent \| ([\d.]+) % .* \| ([\d.]+) % ", CONNECT_FOUR)
    assert agent.groups() == (everything, tactical)
    (deeper,) = re.findall(
        r"\| `lookahead:3` with its values \| ([\d.]+)", CONNECT_FOUR
    )
    triples = re.findall(r"^\| .* \| (\d.*), (.*), (.*) % \| .* %", CONNECT_FOUR, re.M)
    medians = [np.median([*map(float, row)]) for row in triples[:3]]
    bars = search(r"    bar \[(.*)\]", CONNECT_FOUR)[1].split(", ")
    assert [*map(float, bars)] == [*medians, float(everything), float(deeper)]
