"""The part `network`: what has no effect, and what goes together."""

from jax_ttt.config.parts.network import NetworkSettings


def test_what_has_no_effect():
    of_table = [*NetworkSettings().unused()]
    of_mlp = [*NetworkSettings(network="table").unused()]
    assert {c.field for c in of_table} == {"table_key", "initial_value"}
    sizes = {"hidden_size", "hidden_layers", "two_planes", "filters"}
    assert {c.field for c in of_mlp} == sizes | {"activation", "precision"}
    assert {c.others for c in of_table + of_mlp} == {("network",)}


def test_filters_have_the_activation_without_hidden_layers():
    for filters, has in ((0, False), (2, True)):
        settings = NetworkSettings(hidden_layers=0, filters=filters)
        unused = {conflict.field for conflict in settings.unused()}
        assert ("activation" not in unused) == has


def test_a_table_has_no_hidden_layers():
    assert NetworkSettings(hidden_size=7, hidden_layers=3).hidden_sizes == (7, 7, 7)
    assert NetworkSettings(network="table").hidden_sizes == ()
