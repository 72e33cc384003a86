"""What the page gets of an agent: its values, its grade, its history.

The methods compute with JAX, so they run in the worker thread.
"""

import collections
from typing import Protocol

from jax_ttt.config.catalogue import SEATS
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.files.rows import Chunk
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.grading.grade import Grade
from jax_ttt.live import live_run
from jax_ttt.live.job import FullStatus
from jax_ttt.live.live_run import HistoryRow
from jax_ttt.players.agents import AgentError
from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions.agent_list import Entry
from jax_ttt.sessions.opponents import LIVE, Key, Opponents, Trained
from jax_ttt.web import agent_data

MOST_GRADES = 2000
"""Grades that are kept, of agents and their snapshots; the oldest goes."""


class Watched(Trained, Protocol):
    """A training that can be shown."""

    def status(self) -> FullStatus:
        """Return everything to show."""
        ...


class Descriptions:
    """Agents as JSON data."""

    def __init__(self, opponents: Opponents, training: Watched) -> None:
        self._opponents, self._training = opponents, training
        self._grades: collections.OrderedDict[Key, Grade] = collections.OrderedDict()
        self._latest: dict[Key, Grade | None] = {}  # of the agents in the list

    def all(self) -> JsonObject:
        """Return all agents, and the files that can't be used with the reasons.

        Every agent is graded first, which takes milliseconds for each new one.
        """
        entries, refused = self._opponents.listed.scan()
        known = self._latest
        self._latest = {}
        for entry in entries:
            key = (entry.id, entry.stamp)
            graded = known[key] if key in known else self._graded(entry, None)
            self._latest[key] = graded
        agents = [self._about(entry) for entry in entries]
        live = self._live()
        return {"agents": agents + ([live] if live else []), "refused": refused}

    def values(self, agent_id: str, update: int | None) -> JsonObject:
        """Return an agent's action values."""
        agent = self._opponents.agent(agent_id, update)
        shown = agent.num_updates if update is None else update
        try:
            return agent_data.values_json(agent_id, shown, agent)
        except AgentError as error:
            raise Refusal(409, str(error)) from None

    def grade(self, agent_id: str, update: int | None) -> Grade:
        """Return an agent's exact grade."""
        if agent_id == LIVE:
            return self._grade(agent_id, update)
        key = (agent_id, update, self._opponents.listed.find(agent_id).stamp)
        if key not in self._grades:
            self._grades[key] = self._grade(agent_id, update)
            while len(self._grades) > MOST_GRADES:
                self._grades.popitem(last=False)
        return self._grades[key]

    def history(self, agent_id: str) -> list[HistoryRow]:
        """Return the evaluations of an agent's training, the oldest first.

        A run's own grades lack the share of best moves, so those of its snapshots
        replace them.
        """
        if agent_id == LIVE:
            return self._training.status()["history"]
        entry = self._opponents.listed.find(agent_id)
        measured: dict[int, Grade] = {}
        for update in self._opponents.listed.updates(entry):
            if (grade := self._graded(entry, update)) is not None:
                measured[update] = grade
        if entry.source != "run":
            return [
                live_run.history_row(update, grade)
                for update, grade in measured.items()
            ]
        rows = read_history(RunFolder(entry.path.parent))
        for row in rows:
            if (grade := measured.get(row["update"])) is not None:
                row["grade"] = records.to_dict(grade)
        return rows

    def _grade(self, agent_id: str, update: int | None) -> Grade:
        agent = self._opponents.agent(agent_id, update)
        try:
            return agent_data.grade(agent)
        except AgentError as error:
            raise Refusal(409, str(error)) from None

    def _graded(self, entry: Entry, update: int | None) -> Grade | None:
        """Return an agent's exact grade; None if it can't be read, or can't play."""
        try:
            return self.grade(entry.id, update)
        except Refusal:  # a game against it says why
            return None

    def _about(self, entry: Entry) -> JsonObject:
        about = agent_data.agent_json(entry.id, entry.name, entry.source, entry.agent)
        graded = self._latest[entry.id, entry.stamp]
        return about | {
            "preset": entry.preset,
            "unbeatable": None
            if graded is None
            else live_run.unbeatable_by_side(graded),
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
    """Return the exact evaluations in a run's metrics; none if they can't be read."""
    history: list[HistoryRow] = []
    loss = None
    try:
        rows = run.rows()
    except ValueError:
        return history
    for row in rows:
        if isinstance(row, Chunk):
            loss = row.loss
        elif len(row.grade.followed) == len(SEATS):
            history.append(
                live_run.history_row(
                    row.update,
                    row.grade,
                    games=row.games,
                    loss=loss,
                    seconds=row.seconds,
                )
            )
    return history
