"""The positions of a table's rows, as the page reads them."""

import base64
import json

from tools import tree_data


def test_the_file_of_the_page_has_the_positions_of_the_tree_in_its_order(boards):
    assert tree_data.PATH.read_bytes() == tree_data.tree_json("tic_tac_toe")
    data = json.loads(tree_data.PATH.read_text("utf-8"))
    assert data["env_id"] == "tic_tac_toe"
    cells = base64.b64decode(data["cells"])
    rows = [
        "".join("-XO"[cell] for cell in cells[i : i + 9])
        for i in range(0, len(cells), 9)
    ]
    assert rows == boards
