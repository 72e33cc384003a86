"""The part `network`: what has no effect, and what goes together."""

from jax_ttt.config.parts.network import NetworkSettings


def test_what_has_no_effect():
    assert dict(NetworkSettings().unused()) == {
        "table_key": "network mlp",
        "initial_value": "network mlp",
    }
    unused = dict(NetworkSettings(network="table").unused())
    sizes = {"hidden_size", "hidden_layers", "two_planes", "filters"}
    assert unused.keys() == sizes | {"activation", "precision"}
    assert set(unused.values()) == {"network table"}


def test_filters_have_the_activation_without_hidden_layers():
    for filters, has in ((0, False), (2, True)):
        settings = NetworkSettings(hidden_layers=0, filters=filters)
        assert ("activation" not in dict(settings.unused())) == has


def test_a_table_has_no_hidden_layers():
    assert NetworkSettings(hidden_size=7, hidden_layers=3).hidden_sizes == (7, 7, 7)
    assert NetworkSettings(network="table").hidden_sizes == ()
