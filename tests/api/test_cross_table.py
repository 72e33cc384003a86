"""The cross table: every form of a player, printed, shown, drawn."""

import jax
import pytest

import jax_ttt


def first_free(env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


@pytest.fixture(scope="module")
def table(agent):
    return jax_ttt.cross_table([agent, "random", first_free, any_free], num_games=64)


def test_only_pairs_with_random_moves_are_sampled(table):
    assert table.names == ("agent of seed 1", "random", "first_free", "any_free")
    assert not table.sampled[:3, :3].any()
    assert table.sampled[3].all()
    assert table.sampled[:, 3].all()
    assert table.ranking[0].player == "agent of seed 1"


def test_it_is_shown_and_drawn(table, drawn):
    text = table._repr_html_()
    assert text.count("<tr>") == 5 + 5
    assert "first_free as X" in text
    assert text.count("~") == 1 + 7, "in the title, and for each sampled pair"
    figure = drawn(table.picture)
    assert "first_free" in [t.get_text() for t in figure.axes[0].get_yticklabels()]


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize("players", [[], ["random"], "random", None])
def test_it_needs_players(players):
    with pytest.raises(jax_ttt.Refused, match="needs a list of at least two players"):
        jax_ttt.cross_table(players)
