// What the tab "Learn" is about: a training in this page, a run that is watched, or the selected
// agent.

import { reveal } from "./messages.js";
import { FollowedRun } from "./followed_run.js";
import { observe } from "./observe.js";
import { Training } from "./training.js";

export class Learn {
  settings; grades; selection; play;
  curves = null; // the training or the watched run whose curves are shown, or null

  // `parts` are { source, engine, settings, grades, agents, selection, play, shown }, and
  // `openGame(envId)` opens another game.
  constructor(parts, openGame) {
    const { settings, grades, selection, play } = parts;
    Object.assign(this, { settings, grades, selection, play });
    observe(this, "curves");
    const showCurves = (learning) => {
      this.curves = learning;
    };
    this.training = new Training(parts, { openGame, showCurves });
    this.followed = new FollowedRun(parts, { openGame, showCurves });
  }

  // What learns, or has learned, and is on the board before the person moves; null without one.
  get onBoard() {
    if (this.play.game.hasBegun) return null;
    const all = [this.training, this.followed];
    return all.find((one) => one.state !== "idle" && one.isOnBoard) ?? null;
  }

  // Whether the page trains agents of the open game.
  get isTrainedHere() {
    return this.training.rules === this.settings.rules;
  }

  // Train a table of tic-tac-toe here, with the board in view.
  watchOne() {
    this.play.openPanel("learning");
    this.training.watchOne();
    reveal();
  }

  // What the tab is about, something that learns or the selected agent: { learning (or null),
  // entry (or null), update }.
  get subject() {
    const { curves, followed, selection, training } = this;
    const { agent, update } = selection;
    const shown = curves === training && !this.isTrainedHere ? null : curves;
    const selected = [training, followed].find(
      ({ agentId }) => agentId !== null && agentId === agent?.id,
    );
    const learning = shown ?? selected ?? null;
    if (learning === null) return { learning, entry: agent, update };
    return { learning, entry: learning.entry, update: learning === selected ? update : null };
  }

  // What can be shown besides: [name, text, the training, the run, or null for the agent].
  get choices() {
    const { followed, isTrainedHere, selection, training } = this;
    const choices = [];
    const isBegun = training.state !== "idle" && isTrainedHere;
    if (isBegun) choices.push(["training", "The training", training]);
    if (followed.name !== null) choices.push(["run", "The watched run", followed]);
    const isOther = ![training, followed].some(({ agentId }) => agentId === selection.agent?.id);
    if (selection.agent && isOther) choices.push(["agent", "The selected agent", null]);
    return choices;
  }

  // The curves of the subject: { title, rows, update, reason (why there are none) }.
  get shownCurves() {
    const { learning, entry, update } = this.subject;
    if (learning !== null) {
      const ofAgent = entry?.title ?? "The agent you trained";
      const title = learning === this.followed ? `Run ${learning.name}` : ofAgent;
      return { title, rows: learning.rows, update, reason: "the curves begin soon" };
    }
    if (!entry) return { title: "", rows: [], update: null, reason: "no agent" };
    const { rows, isLoading, error } = this.grades.historyOf(entry);
    const reason = isLoading ? "loading…" : error || "no history";
    return { title: entry.title, rows, update, reason };
  }
}
