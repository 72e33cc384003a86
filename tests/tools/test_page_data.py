"""What the page and the package share."""

import base64
import json

from tools import page_data


def test_the_page_has_the_games_levels_and_learners_of_the_package():
    assert page_data.DATA_PATH.read_text("utf-8") == page_data.page_data_module()
    data = json.loads(json.dumps(page_data.page_data()))
    assert {"tic_tac_toe", "connect_5x4", "connect_7x6"} <= data["games"].keys()
    assert data["games"]["connect_7x6"]["bestResult"] == "first"
    text = "35% random moves, else the learned agent's"
    casual = {"name": "Casual", "randomShare": 0.35, "text": text}
    assert data["levels"]["casual"] == casual
    assert data["learners"]["table"]["config"]["num_updates"] == 400


def test_the_file_of_the_page_has_the_positions_of_the_tree_in_its_order(boards):
    assert page_data.TREE_PATH.read_bytes() == page_data.tree_json("tic_tac_toe")
    data = json.loads(page_data.TREE_PATH.read_text("utf-8"))
    assert data["env_id"] == "tic_tac_toe"
    cells = base64.b64decode(data["cells"])
    rows = [
        "".join("-XO"[cell] for cell in cells[i : i + 9])
        for i in range(0, len(cells), 9)
    ]
    assert rows == boards
