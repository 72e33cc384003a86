"""Learning: runs of other processes are watched, and curves are read."""

import json
import re
import shutil

import made
import pytest
import served
import tiny
from board_values import table_values, values_of
from browsing import expect

from jax_ttt.config.player_kinds import SHIPPED, SNAPSHOTS
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import Lock, RunFolder

pytestmark = pytest.mark.slow
LOSES = made.exact((0.9, 0.1, 0), (0.6, 0.3, 0.1), worst=(0.0, 0.2))
PROVEN = made.exact((0.95,), (0.9,), unbeatable=True)


class Trained:
    """A run that a test trains by hand."""

    def __init__(self, folder, name, env_id="tic_tac_toe"):
        self.run = RunFolder(folder / "runs" / name)
        self.run.snapshots.mkdir(parents=True)
        config = {"env_id": env_id, "num_updates": 400, "network": "table"}
        plan = {"config": config, "preset": "table", "seed": 7}
        self.run.config.write_text(json.dumps(plan))
        self.lock = Lock(self.run.lock)

    def evaluate(self, update, grade, snapshot=True, **fields):
        if snapshot:
            name = f"{update:05}.safetensors"
            shutil.copy(SNAPSHOTS["table"] / name, self.run.snapshots / name)
        row = json_records.to_dict(made.evaluated(update, grade, games=update))
        row["grade"] = json_records.to_dict(grade) | fields
        with self.run.metrics.open("a") as file:
            file.write(f"{json.dumps(row)}\n")


def watched(page):
    """Return the part of the panel with the watched run."""
    return page.get_by_role("region", name="Watched run")


def show_values(page, file):
    """Wait until the board shows the values of a file."""
    served.wait_until(lambda: table_values(page) == values_of(file))


def test_a_run_in_training_is_watched_until_its_proof_and_its_end(
    open_page, own_server, tmp_path
):
    url, stop = own_server
    page = open_page(url, expected="ERR_|Failed to load|404")
    panel = page.tab("Learning")
    expect(panel).to_contain_text("No run is in training")
    expect(panel).to_contain_text("--preset connect-4x4 --snapshots --run-dir")
    training = Trained(tmp_path, "mine")
    training.evaluate(0, LOSES)
    page.button("Watch it mine").click()
    expect(watched(page)).to_contain_text("Training, preset table, seed 7")
    # The newest snapshot is on the board.
    show_values(page, training.run.snapshot(0))
    page.says("Values of: Run mine (table).")
    training.evaluate(40, LOSES)
    expect(watched(page)).to_contain_text("Training: update 40 of 400")
    expect(watched(page)).to_contain_text("Can still be beaten")
    show_values(page, training.run.snapshot(40))
    training.evaluate(80, PROVEN)
    page.hear("Unbeatable, proven at update 80")
    expect(watched(page)).to_contain_text("Unbeatable, proven from update 80 on")
    chart = page.get_by_role("slider", name="As X")
    expect(chart).to_have_attribute("aria-valuenow", "80")
    chart.press("Home")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("^update 0: 90.0%"))
    page.check_with_axe("a watched run")
    # A link to it is a link to the run.
    assert "agent=run%2Fmine" in page.url
    # A hidden tab has no stream, and shows the state once it is visible.
    page.set_hidden(True)
    training.evaluate(120, PROVEN)
    shutil.copy(SHIPPED["table"], training.run.agent)
    training.lock.close()
    page.set_hidden(False)
    expect(watched(page)).to_contain_text("Finished: update 120 of 400")
    show_values(page, SHIPPED["table"])
    # It is resumed from an earlier update, and interrupted.
    lock = Lock(training.run.lock)
    training.run.metrics.write_bytes(b"")
    training.evaluate(0, LOSES)
    training.evaluate(40, LOSES)
    expect(watched(page)).to_contain_text("Training: update 40 of 400")
    lock.close()  # it was interrupted, and has saved its agent
    expect(watched(page)).to_contain_text("Stopped: update 40 of 400")
    shutil.rmtree(training.run.path)
    expect(watched(page)).to_contain_text("Deleted")
    page.play(page.legal()[0])
    stop()
    expect(watched(page)).to_contain_text("The server does not answer")
    page.button("Stop watching").click()
    expect(watched(page)).to_have_count(0)


def test_runs_of_a_game_without_rules_and_saved_ones_show_their_curves(
    open_page, own_server, tmp_path
):
    training = Trained(tmp_path, "own", env_id="my_game")
    for update in (0, 40):
        training.evaluate(update, PROVEN, snapshot=False, env_id="my_game")
    saved = Trained(tmp_path, "claims")
    tiny.save_untrained(saved.run.agent)
    for update in (0, 5):
        saved.evaluate(update, PROVEN, snapshot=False)
    saved.lock.close()
    page = open_page(own_server[0], expected="ERR_")
    page.tab("Learning")
    page.button("Watch it own").click()
    expect(watched(page)).to_contain_text("does not have the rules of my_game")
    expect(watched(page)).to_contain_text("Unbeatable, proven from update 0 on")
    expect(page.get_by_role("slider", name="As X")).to_be_visible()
    page.says_no("Values of: Run own")
    training.lock.close()
    page.button("Stop watching").click()
    # The metrics of the saved run say that it is proven; the page has not computed it.
    page.choose_agent("Run claims (network)")
    page.tab("Learning")
    curves = page.get_by_role("region", name="Curves")
    expect(curves).to_contain_text("proven from here on, by its file")
    expect(curves).to_contain_text("exact results against random play, by its file")
