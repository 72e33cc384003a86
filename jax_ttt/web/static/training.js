// Live training in the server: its state, its commands, and what streams in.

import { Rules } from "./rules.js";
import { announce, confirmed, number, say } from "./ui.js";

// What can learn, and what each of them is.
export const LEARNERS = {
  table: {
    name: "Table",
    envId: "tic_tac_toe",
    fromPeople: true, // whether it can learn from a person's games
    help: "A table keeps one value for each position of tic-tac-toe.",
  },
  network: {
    name: "Network",
    envId: "tic_tac_toe",
    fromPeople: true, // whether it can learn from a person's games
    help:
      "A network computes the value of each move from the board, so what it learns in one " +
      "position changes its values in others.",
  },
  "connect-4x4": {
    name: "Connect Four 4 × 4",
    envId: "connect_4x4",
    fromPeople: false,
    help:
      "A network learns Connect Four on 4 × 4 in rounds. After each round, a search lists the " +
      "positions where it loses, and half of the next games start there. It takes up to a minute.",
  },
};
const STATES = {
  idle: "Not started",
  loading: "Loading JAX…",
  compiling: "Compiling the program…",
  running: "Training",
  paused: "Paused",
  finished: "Finished",
  failed: "Failed",
};
const LEARNING_STATES = ["running", "paused", "finished"]; // states in which a game can be learned
const BUSY = ["loading", "compiling", "running", "paused"];
const LOST = "The server does not answer; you can play on, training waits.";

export class Training {
  // Reads `app.source` and `app.agents`, and calls `app.changed()`.
  constructor(app) {
    this.app = app;
    this.source = app.source.training; // null: this page can't train
    this.status = null; // what the server said last
    this.rows = []; // the history of this run: [{ update, grade, games, loss, seconds }]
    this.problem = ""; // why the last command failed
    this.isLost = false; // whether the server does not answer
    this.positions = {}; // of the sliders that are being moved
    this.changes = 0; // of settings, which the server has not answered
    this.isShown = false; // whether the curves are this training's, not the selected agent's
    this.chosen = null; // what the person chose to learn next; null: what the server has
  }

  get isBusy() {
    return BUSY.includes(this.status?.status);
  }

  // Whether there is an agent that can be saved.
  get hasAgent() {
    return this.status?.update > 0 && this.app.agents.get("live") !== null;
  }

  get learner() {
    const { learner = "table" } = this.status ?? {};
    return this.isBusy ? learner : (this.chosen ?? learner);
  }

  get isProven() {
    const { unbeatable } = this.status ?? {};
    return Boolean(unbeatable?.x && unbeatable.o);
  }

  // The state in words: "Training: update 50 of 400".
  get stateText() {
    if (!this.status) return "Asking the server…";
    const { status, update, num_updates } = this.status;
    const updates = `: update ${number(update)} of ${number(num_updates)}`;
    return STATES[status] + (update ? updates : "");
  }

  // How much of the training is over, 0 to 1; a proof can end it early.
  get share() {
    const { status, update = 0, num_updates = 1 } = this.status ?? {};
    return status === "finished" ? 1 : update / num_updates;
  }

  get proofText() {
    const { unbeatable, proven_at } = this.status ?? {};
    if (!unbeatable) return "";
    if (!this.isProven) return "Can still be beaten";
    const since = proven_at === null ? "" : ` from update ${number(proven_at)} on`;
    return `Unbeatable, proven${since}`;
  }

  // Whether the figures and sliders of the server are those of the chosen learner.
  get hasSettings() {
    return this.status?.learner === this.learner;
  }

  // Choose what learns next. While there is no training, the server follows, so that its
  // sliders are those of the learner.
  async choose(learner) {
    this.chosen = learner;
    this.app.changed();
    if (this.status?.status === "idle") await this.send("reset", learner);
  }

  // Show the state now, then whatever the server sends.
  async listen() {
    if (!this.source) return;
    this.source.listen(
      (message) => this.receive(message),
      (isConnected) => this.connect(isConnected),
    );
    await this.refresh();
  }

  async refresh() {
    try {
      this.receive({ status: await this.source.status(), isFirst: true });
    } catch (error) {
      this.fail(error);
    }
  }

  connect(isConnected) {
    if (isConnected === !this.isLost) return;
    this.isLost = !isConnected;
    if (this.isLost) say(LOST);
    else {
      this.problem = "";
      announce("The server answers again.");
      this.app.agents.refresh().catch(() => {}); // the next event tries again
    }
    this.app.changed();
  }

  fail(error) {
    this.problem = error.message;
    this.app.changed();
  }

  // A message replaces the history if it has all of it, or is of another run.
  receive({ status, isFirst }) {
    const before = this.status;
    const isNew = isFirst || status.run !== before?.run || status.status === "idle";
    // An update that was evaluated again, after games of people, replaces its row.
    const rows = [...(isNew ? [] : this.rows), ...(status.rows ?? [])];
    this.rows = [...new Map(rows.map((row) => [row.update, row])).values()];
    const wasProven = this.isProven;
    this.status = status;
    if (status.status === "idle") this.isShown = false;
    else if (this.isBusy && status.run !== before?.run) this.isShown = true;
    if (this.isBusy) this.chosen = null;
    if (before && before.status !== status.status) announce(`Training: ${STATES[status.status]}`);
    if (before && this.isProven && !wasProven) announce(`${this.proofText}.`);
    this.followAgent(before);
    this.app.changed();
  }

  // The agent in training is in the list as long as it has a snapshot. It never becomes
  // the opponent by itself.
  followAgent(before) {
    const { agents } = this.app;
    const { status, run, update, snapshots } = this.status;
    const isListed = agents.get("live") !== null;
    const isOther = before !== null && before.run !== run;
    const hasAgent = status !== "idle" && snapshots.length > 0;
    if (hasAgent !== isListed || (isListed && isOther)) agents.refresh().catch(() => {});
    else if (isListed) {
      const isEvaluated = agents.get("live").snapshots.length !== snapshots.length;
      agents.grow("live", { updates: update, snapshots });
      const { app } = this;
      if (isEvaluated && app.agent?.source === "live" && app.update === null) app.load();
    }
  }

  async send(command, learner) {
    try {
      const status = await this.source.command(command, learner);
      this.problem = "";
      this.receive({ status, isFirst: true });
    } catch (error) {
      this.fail(error);
    }
  }

  // Start a training. The agent of the one before is kept first.
  async start() {
    try {
      await this.keepBefore();
    } catch (error) {
      this.fail(error);
      return;
    }
    await this.send("start", this.learner);
  }

  async keepBefore() {
    if (!this.hasAgent) return;
    const { agents } = this.app;
    const { bytes, file } = await agents.load("live");
    let id = agents.keptAs(bytes);
    if (id === null) {
      const name = agents.nameFor(file);
      id = agents.keep(name, bytes);
      say(`The agent of the training before is kept in this browser as "${name}".`);
    }
    // Whoever plays against it goes on with it, not with the next one.
    this.app.replaceAgent("live", id);
  }

  // Keep the agent in training in this browser, under a name.
  async save(name) {
    const { agents } = this.app;
    try {
      const { bytes, file } = await agents.load("live");
      const id = agents.keep(name.trim() || agents.nameFor(file), bytes);
      say(`Saved in this browser as "${agents.get(id).name}".`);
    } catch (error) {
      say(error.message);
    }
  }

  // Start a game against the agent in training.
  play() {
    this.openGame();
    this.app.select("live");
    this.app.playSelected();
  }

  // Show a line of play in which the agent in training loses; `side` is the agent's.
  demonstrate(line, side) {
    this.openGame();
    this.app.demonstrate(line, side);
  }

  openGame() {
    if (this.app.rules.envId !== this.rules.envId) this.app.openGame(this.rules.envId);
  }

  // Show the curves of this training, or those of the selected agent.
  show(isShown) {
    this.isShown = isShown;
    this.app.changed();
  }

  async reset() {
    const question =
      "Forget this training? Its agent and curves are lost. To keep the agent, save it first.";
    if (await confirmed(question, "Forget it")) await this.send("reset");
  }

  // Move a slider, which takes effect when it is let go.
  move(name, position) {
    this.positions[name] = position;
    this.app.changed();
  }

  // Change sliders, of which null is the default, or whether games of people are learned.
  async change(settings) {
    this.changes += 1;
    try {
      const status = await this.source.change(settings);
      this.problem = "";
      this.receive({ status, isFirst: true });
    } catch (error) {
      this.fail(error);
    } finally {
      this.changes -= 1;
      if (this.changes === 0) this.positions = {};
      this.app.changed();
    }
  }

  // Move all sliders back: the settings follow their schedules again.
  setDefaults() {
    const names = Object.keys(this.status.settings);
    return this.change(Object.fromEntries(names.map((name) => [name, null])));
  }

  // Let the agent in training learn from a finished game of the person.
  async learnFrom({ envId, moves }) {
    const { learn_from_people, env_id, learner, status } = this.status ?? {};
    const canLearn = LEARNERS[learner]?.fromPeople && LEARNING_STATES.includes(status);
    if (!learn_from_people || env_id !== envId || !canLearn) return;
    try {
      await this.source.learn([...moves]);
    } catch (error) {
      this.fail(error);
    }
  }

  // The rules of the game that is learned.
  get rules() {
    const envId = this.status?.env_id ?? LEARNERS[this.learner].envId;
    if (this.ownRules?.envId !== envId) this.ownRules = new Rules(envId);
    return this.ownRules;
  }
}
