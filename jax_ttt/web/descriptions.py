"""What the page gets of an agent: its values, its proof, its history.

The methods compute with JAX, so they run in the worker thread.
"""

import collections
from typing import Protocol

import numpy as np

from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import SEATS, Seat, Side
from jax_ttt.files.records import JsonObject
from jax_ttt.files.rows import Chunk
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.grading.grade import Rates
from jax_ttt.grading.history import HistoryRow, history_row, measured_row
from jax_ttt.live.job import FullStatus
from jax_ttt.players.agents import Agent, AgentError
from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions.agent_list import Entry
from jax_ttt.sessions.opponents import LIVE, Key, Opponents, Trained
from jax_ttt.web import agent_data
from jax_ttt.web.agent_data import SideProof

MOST_PROOFS = 1000
MOST_HISTORIES = 100


class Watched(Trained, Protocol):
    """A training that can be shown."""

    def status(self) -> FullStatus:
        """Return everything to show."""
        ...


class Descriptions:
    """Agents as JSON data."""

    def __init__(self, opponents: Opponents, training: Watched) -> None:
        self._opponents, self._training = opponents, training
        self._proofs: collections.OrderedDict[Key, dict[Side, SideProof]] = (
            collections.OrderedDict()
        )
        self._verdicts: dict[Key, dict[Side, bool] | None] = {}
        self._rows: dict[Key, dict[int, HistoryRow]] = {}

    def all(self) -> JsonObject:
        """Return all agents, and the files that can't be used with the reasons.

        Every agent is proven or refuted first, which takes milliseconds for each new
        one.
        """
        entries, refused = self._opponents.listed.scan()
        known = self._verdicts
        self._verdicts = {}
        for entry in entries:
            key = (entry.id, entry.stamp)
            self._verdicts[key] = known[key] if key in known else self._verdict(entry)
        agents = [self._about(entry) for entry in entries]
        live = self._live()
        return {"agents": agents + ([live] if live else []), "refused": refused}

    def values(self, agent_id: str, update: int | None) -> JsonObject:
        """Return an agent's action values."""
        agent = self._opponents.agent(agent_id, update)
        try:
            found = agent_data.action_values(agent)
        except AgentError as error:
            raise Refusal(409, str(error)) from None
        shown = agent.num_updates if update is None else update
        return agent_data.values_json(agent_id, shown, found)

    def proof(self, agent_id: str, update: int | None) -> dict[Side, SideProof]:
        """Return by side whether an agent is unbeatable, and its lines of play."""
        if agent_id == LIVE:
            return self._proof(agent_id, update)
        key = (agent_id, update, self._opponents.listed.find(agent_id).stamp)
        if key not in self._proofs:
            self._proofs[key] = self._proof(agent_id, update)
            while len(self._proofs) > MOST_PROOFS:
                self._proofs.popitem(last=False)
        return self._proofs[key]

    def history(self, agent_id: str) -> list[HistoryRow]:
        """Return the evaluations of an agent's training, the oldest first."""
        if agent_id == LIVE:
            return self._training.status()["history"]
        entry = self._opponents.listed.find(agent_id)
        measured = self._measured(entry)
        if entry.source != "run":
            return list(measured.values())
        found = read_history(RunFolder(entry.path.parent))
        return [_with_optimal(row, measured.get(row["update"])) for row in found]

    def _measured(self, entry: Entry) -> dict[int, HistoryRow]:
        """Return a row for each snapshot of a training, by its update."""
        updates = self._opponents.listed.updates(entry)
        key = (entry.id, entry.stamp, updates)
        if key not in self._rows:
            tree = trees.enumerated(catalogue.DEFAULT)
            agents = {u: self._opponents.listed.snapshot(entry, u) for u in updates}
            self._rows[key] = {
                update: measured_row(tree, update, _policy(tree, agent))
                for update, agent in agents.items()
                if agent is not None
            }
            while len(self._rows) > MOST_HISTORIES:
                self._rows.pop(next(iter(self._rows)))
        return self._rows[key]

    def _proof(self, agent_id: str, update: int | None) -> dict[Side, SideProof]:
        agent = self._opponents.agent(agent_id, update)
        try:
            found = agent_data.action_values(agent)
        except AgentError as error:
            raise Refusal(409, str(error)) from None
        return agent_data.proof_json(trees.enumerated(catalogue.DEFAULT), found)

    def _verdict(self, entry: Entry) -> dict[Side, bool] | None:
        """Return by side whether an agent is unbeatable; None if it can't play."""
        try:
            proof = self.proof(entry.id, None)
        except Refusal:  # its values are not finite; a game against it says so
            return None
        return {side: part["unbeatable"] for side, part in proof.items()}

    def _about(self, entry: Entry) -> JsonObject:
        about = agent_data.agent_json(entry.id, entry.name, entry.source, entry.agent)
        return about | {
            "preset": entry.preset,
            "unbeatable": self._verdicts[entry.id, entry.stamp],
            "snapshots": [*self._opponents.listed.updates(entry)],
        }

    def _live(self) -> JsonObject | None:
        agent = self._training.agent()
        if agent is None:
            return None
        status = self._training.status()
        about = agent_data.agent_json(LIVE, "in training here", "live", agent)
        return about | {
            "preset": None,
            "unbeatable": status["unbeatable"],
            "snapshots": status["snapshots"],
        }


def read_history(run: RunFolder) -> list[HistoryRow]:
    """Return the evaluations in a run's metrics; none if these can't be read."""
    history: list[HistoryRow] = []
    loss = None
    try:
        rows = run.rows()
    except ValueError:
        return history
    for row in rows:
        if isinstance(row, Chunk):
            loss = row.loss
        elif row.exact is not None:
            rates: dict[Seat, Rates] = {s: row.exact.seat(s) for s in SEATS}
            history.append(
                history_row(
                    row.update,
                    rates,
                    row.exact.unbeatable,
                    games=row.games,
                    loss=loss,
                    seconds=row.seconds,
                )
            )
    return history


def _with_optimal(row: HistoryRow, measured: HistoryRow | None) -> HistoryRow:
    """Return a row with the share of best moves that was measured, if it was."""
    if measured is None:
        return row
    return {
        **row,
        "x": {**row["x"], "optimal": measured["x"]["optimal"]},
        "o": {**row["o"], "optimal": measured["o"]["optimal"]},
    }


def _policy(tree: Tree, agent: Agent) -> np.ndarray:
    return agent_data.policy_of(tree, agent_data.action_values(agent))
