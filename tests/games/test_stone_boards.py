"""Cells and keys of boards; the listed symmetries are symmetries of the games."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.dqn import greedy_player
from jax_ttt.games import pgx_games, stone_boards
from jax_ttt.games import tree as trees
from jax_ttt.players.player import random_player

LISTED = [name for name, game in GAMES.items() if game.symmetries]
NUM_GAMES = 256


def views(env_id="tic_tac_toe"):
    listed = pgx_games.symmetric_views(env_id)
    assert listed is not None
    return listed


@pytest.mark.parametrize("env_id", LISTED)
def test_views_are_a_group_of_permutations_and_the_first_is_the_identity(env_id):
    planes, num_actions = pgx_games.sizes(env_id)
    sizes = (int(np.prod(planes[:2])), num_actions)
    for permutations, size in zip(views(env_id), sizes, strict=True):
        assert permutations[0].tolist() == list(range(size))
        members = {tuple(permutation) for permutation in permutations.tolist()}
        assert len(members) == len(permutations)
        for one in permutations:
            assert {tuple(one[other]) for other in permutations} == members


def test_tic_tac_toe_has_eight_views():
    assert views().cells.shape == (8, 9)


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_four"])
def test_a_game_played_in_a_view_stays_the_image_of_the_game(env_id):
    env = pgx_games.make_env(env_id)
    plain = start = jax.device_get(pgx_games.init(env, jax.random.key(0), NUM_GAMES))
    choose = jax.jit(random_player)
    for cells, actions in zip(*views(env_id), strict=True):
        inverse = np.argsort(actions)
        plain = image = start
        for number in range(12):
            legal = plain.legal_action_mask
            np.testing.assert_array_equal(image.legal_action_mask, legal[:, actions])
            action = choose(jax.random.key(number), plain)
            plain = pgx_games.play_moves(env, plain, action)
            # Action `a` in the view is `actions[a]` on the board.
            image_action = inverse[np.asarray(action)].astype(np.int32)
            image = pgx_games.play_moves(env, image, image_action)
            plain, image = jax.device_get((plain, image))
            planes = plain.observation
            flat = planes.reshape(NUM_GAMES, -1, planes.shape[-1])
            np.testing.assert_array_equal(
                image.observation, flat[:, cells].reshape(planes.shape)
            )
            np.testing.assert_array_equal(image.rewards, plain.rewards)
            np.testing.assert_array_equal(image.terminated, plain.terminated)
    assert plain.terminated.any()


def test_views_that_are_no_symmetries_of_the_tree_are_an_error(host_tree):
    with_cells_swapped = np.array([range(9), [1, 0, *range(2, 9)]])
    wrong = stone_boards.Views(with_cells_swapped, with_cells_swapped)
    with pytest.raises(ValueError, match="not in the tree"):
        trees.with_symmetries(host_tree, wrong)


def test_all_views_of_a_board_have_the_same_canonical_view(host_tree):
    def canonical(cells):
        """Return the canonical views, and the cells mapped back from them."""
        least = stone_boards.least_views(cells, views())
        boards = cells.reshape(-1, 3, 3, 1)
        seen = stone_boards.to_canonical(boards, views(), least).reshape(-1, 9)
        values = jnp.asarray(seen[None], jnp.float32)
        return seen, stone_boards.from_canonical(values, views(), least)[0]

    compiled = jax.jit(canonical)
    cells = stone_boards.cells(host_tree.obs)
    expected, _ = compiled(cells)
    for view in views().cells:
        seen, back = compiled(cells[:, view])
        np.testing.assert_array_equal(seen, expected)
        np.testing.assert_array_equal(back, cells[:, view])  # as actions are cells
    on_host = stone_boards.least_views(cells, views())
    boards = cells.reshape(-1, 3, 3, 1)
    seen = stone_boards.to_canonical(boards, views(), on_host)
    np.testing.assert_array_equal(seen.reshape(-1, 9), expected)
    # The stones determine the player to move, so these are all classes of the tree.
    assert len(np.unique(expected, axis=0)) == 765


@pytest.mark.parametrize("run", [lambda function: function, jax.jit])
def test_cells_are_the_movers_stones_and_the_opponents(run):
    planes = np.zeros((1, 3, 3, 2), bool)
    planes[0, 0, 1, 0] = planes[0, 2, 2, 1] = True
    cells = run(stone_boards.cells)(planes)
    assert cells.dtype == np.int8
    assert cells.tolist() == [[0, 1, 0, 0, 0, 0, 0, 0, -1]]


def board_keys(cells):
    """Two bits of each cell, the last highest: 2 is the mover's stone, 1 is free."""
    return (cells + 1) @ 4 ** np.arange(9)


def test_the_canonical_board_has_the_least_key_of_its_views(host_tree):
    cells = stone_boards.cells(host_tree.obs)
    keys = board_keys(cells[:, views().cells])
    least = stone_boards.least_views(cells, views())
    np.testing.assert_array_equal(least, keys == keys.min(axis=1, keepdims=True))
    boards = host_tree.classes.boards
    assert (keys[boards, 0] == keys[boards].min(axis=1)).all()


def test_keys_of_many_cells_are_compared_exactly():
    """Connect Four's keys have 84 bits; here they are integers of Python."""
    board_views = views("connect_four").cells
    mirror, rows, rng = board_views[1], np.arange(500), np.random.default_rng(0)
    cells = rng.integers(-1, 2, (500, 42))
    # Symmetric boards but for two cells, so that any part of a key may decide.
    cells = np.where(np.arange(42) < mirror, cells, cells[:, mirror])
    for _ in range(2):
        cells[rows, rng.integers(0, 42, 500)] = rng.integers(-1, 2, 500)

    def key(board):
        return int("".join(str(cell + 1) for cell in board[::-1]), base=4)

    keys = [[key(board[view]) for view in board_views] for board in cells]
    expected = [[k == min(row) for k in row] for row in keys]
    connect_four = views("connect_four")
    assert stone_boards.least_views(cells, connect_four).tolist() == expected
    on_device = jax.jit(lambda cells: stone_boards.least_views(cells, connect_four))
    assert on_device(cells).tolist() == expected


def test_positions_have_765_classes_and_decisions_627(host_tree):
    representative, terminal = host_tree.representative, host_tree.terminal
    classes = host_tree.classes
    assert len(np.unique(representative)) == 765
    assert len(np.unique(representative[~terminal])) == len(classes.boards) == 627
    assert len(np.unique(representative[terminal])) == 138
    assert (representative <= np.arange(5478)).all()
    # Each decision is a view of the canonical board of its class.
    cells = stone_boards.cells(host_tree.obs)
    canonical = cells[classes.boards][classes.row]
    seen = np.take_along_axis(canonical, classes.actions, axis=1)
    np.testing.assert_array_equal(seen, cells[host_tree.decisions])


def test_symmetric_boards_have_the_same_places_of_actions(host_tree):
    """What is on the cells shows which cell comes where; images of a cell are one."""
    places = jax.jit(greedy_player.action_places, static_argnums=0)

    def seen(obs):
        """Return for each place the stone there, 9 where no cell has it."""
        shown = np.full((len(obs), 9), 9.0)
        where, cells = places("tic_tac_toe", obs), stone_boards.cells(obs)
        np.put_along_axis(shown, np.asarray(where), np.asarray(cells), axis=1)
        return shown

    plain = seen(host_tree.obs)
    assert ((plain == 9).sum(axis=1) > 0).sum() > 100  # boards that are own images
    for view in views().cells:
        image = host_tree.obs.reshape(-1, 9, 2)[:, view].reshape(-1, 3, 3, 2)
        np.testing.assert_array_equal(seen(image), plain)
