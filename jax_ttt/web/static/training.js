// Live training in the server: its state, its commands, and its events.

import { Rules } from "./rules.js";
import { PLACE } from "./storage.js";
import { announce, confirmed, number, say } from "./ui.js";

const STATES = {
  idle: "Not started",
  compiling: "Compiling the program…",
  running: "Training",
  paused: "Paused",
  finished: "Finished",
  failed: "Failed",
};
const LEARNING_STATES = ["running", "paused", "finished"]; // states in which a game can be learned
const BUSY = ["compiling", "running", "paused"];
const LOST = "The server does not answer; you can play on, training waits.";
const GONE = "The server has been started again, so this training is gone.";
const DELETE =
  "Delete this training? Its agent and curves are lost. To keep the agent, save it first.";

// The rows of two lists, in the order of their updates. An update that was evaluated again,
// after games of people, has the row of the later list.
function mergeRows(rows, laterRows) {
  const byUpdate = new Map([...rows, ...laterRows].map((row) => [row.update, row]));
  return [...byUpdate.values()].sort((a, b) => a.update - b.update);
}

export class Training {
  // Reads `app.source` and `app.agents`, and calls `app.changed()`.
  constructor(app) {
    this.app = app;
    this.source = app.source.training; // null: this page can't train
    this.status = null; // the newest status of the server; see `status` in training_thread.py
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
    return this.status?.update > 0 && this.app.agents.live !== null;
  }

  get learner() {
    const { learner = "table" } = this.status ?? {};
    return this.isBusy ? learner : (this.chosen ?? learner);
  }

  // The learners that the server has: [{ id, title, help }]; none before its first answer.
  get learners() {
    return this.status?.learners ?? [];
  }

  get isProven() {
    const { unbeatable } = this.status ?? {};
    return Boolean(unbeatable?.x && unbeatable.o);
  }

  // The state in words: "Training: update 50 of 400".
  get stateText() {
    if (!this.status) return "Waiting for the server…";
    const { status, update, num_updates } = this.status;
    const updates = `: update ${number(update)} of ${number(num_updates)}`;
    const text = STATES[status] + (update ? updates : "");
    return this.isLost ? `The server does not answer. Its last state: ${text}` : text;
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

  // Whether the figures and sliders of the server belong to the chosen learner.
  get hasSettings() {
    return this.status?.learner === this.learner;
  }

  // Choose what learns next. While there is no training, the server follows, so that its
  // sliders belong to the learner.
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
    await this.request(() => this.source.status());
  }

  // Take over the status that `answer()` resolves to, or show why there is none.
  async request(answer) {
    try {
      this.receive(await answer());
      this.problem = "";
    } catch (error) {
      this.problem = error.message;
    }
    this.app.changed();
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

  // Take over a status, all or the new rows of which are in `rows`. Replies and events may
  // arrive in another order than they were sent: the newest status counts.
  receive({ rows, ...status }) {
    const before = this.status;
    const isSameServer = status.server === before?.server;
    const isSameRun = isSameServer && status.run === before.run;
    if (isSameServer && status.version < before.version) {
      if (isSameRun) this.rows = mergeRows(rows, this.rows);
      return;
    }
    if (before && !isSameServer && before.status !== "idle") say(GONE);
    this.rows = mergeRows(isSameRun ? this.rows : [], rows);
    const wasProven = this.isProven;
    this.status = status;
    if (status.status === "idle") this.isShown = false;
    else if (!isSameRun) this.isShown = true;
    if (this.isBusy) this.chosen = null;
    if (before && before.status !== status.status) announce(`Training: ${STATES[status.status]}`);
    if (before && this.isProven && !wasProven) announce(`${this.proofText}.`);
    this.followAgent(before);
    this.app.changed();
  }

  // Bring the agent in training up to date in the list, and the selected one where it was
  // evaluated. It never becomes the opponent by itself.
  followAgent(before) {
    const { app } = this;
    const { agent, update, snapshots, evaluations } = this.status;
    if ((app.agents.live?.id ?? null) !== agent) app.agents.refresh().catch(() => {});
    else if (agent !== null) app.agents.grow(agent, { updates: update, snapshots });
    const isEvaluated = evaluations !== before?.evaluations;
    if (agent !== null && isEvaluated) app.reload(agent);
  }

  // Send a command: "start", "pause", "continue" or "reset".
  send(command, learner) {
    return this.request(() => this.source.command(command, learner));
  }

  // Start a training. The agent of the one before is kept first: without that, nothing is
  // started. Another tab may have started one meanwhile, which the server then says.
  start() {
    return this.request(async () => {
      this.receive(await this.source.status());
      if (!this.isBusy) await this.keepBefore();
      return this.source.command("start", this.learner);
    });
  }

  async keepBefore() {
    const { agent, update } = this.status;
    if (agent === null || update === 0) return;
    const { agents } = this.app;
    const { bytes, file } = await agents.load(agent);
    let id = agents.keptAs(bytes);
    if (id === null) {
      const name = agents.nameFor(file);
      id = agents.keep(name, bytes);
      say(`The agent of the training before is kept ${PLACE} as "${name}".`);
    }
    // A person who plays against it goes on with it, not with the next one.
    this.app.replaceAgent(agent, id);
  }

  // Keep the agent in training in this browser, under a name.
  async save(name) {
    const { agents } = this.app;
    try {
      const { bytes, file } = await agents.load(this.status.agent);
      const id = agents.keep(name.trim() || agents.nameFor(file), bytes);
      say(`Saved ${PLACE} as "${agents.get(id).name}".`);
    } catch (error) {
      say(error.message);
    }
  }

  // Start a game against the agent in training.
  play() {
    this.openGame();
    this.app.select(this.app.agents.live.id);
    this.app.playSelected();
  }

  // Show a line of play in which the agent in training loses; `side` is the agent's.
  demonstrate(line, side) {
    this.openGame();
    if (this.status.agent) this.app.select(this.status.agent);
    this.app.demonstrate(line, side);
  }

  openGame() {
    if (this.app.rules.envId !== this.rules.envId) this.app.chooseGame(this.rules.envId);
  }

  // Show the curves of this training, or of the selected agent.
  show(isShown) {
    this.isShown = isShown;
    this.app.changed();
  }

  async reset() {
    if (await confirmed(DELETE, "Delete the training")) await this.send("reset");
  }

  // Move a slider, which takes effect when it is let go.
  move(name, position) {
    this.positions[name] = position;
    this.app.changed();
  }

  // Change sliders, of which null is the default, or whether games of people are learned.
  async change(settings) {
    this.changes += 1;
    await this.request(() => this.source.change(settings));
    this.changes -= 1;
    if (this.changes === 0) this.positions = {};
  }

  // Move all sliders back: the settings follow their schedules again.
  setDefaults() {
    const names = Object.keys(this.status.settings);
    return this.change(Object.fromEntries(names.map((name) => [name, null])));
  }

  // Let the agent in training learn from a finished game of the person.
  async learnFrom({ envId, moves }) {
    const { learn_from_people, from_people, env_id, status } = this.status ?? {};
    const canLearn = from_people && LEARNING_STATES.includes(status);
    if (!learn_from_people || env_id !== envId || !canLearn) return;
    await this.request(() => this.source.learn([...moves]));
  }

  // The game that is learned where another one is open: "Tic-tac-toe"; else "".
  get otherGame() {
    const hasTraining = this.status !== null && this.status.status !== "idle";
    const isOther = this.rules.envId !== this.app.rules.envId;
    return hasTraining && isOther ? this.rules.title : "";
  }

  // The rules of the game that is learned; before that is known, of the one that is open.
  get rules() {
    const envId = this.status?.env_id ?? this.app.rules.envId;
    if (this.ownRules?.envId !== envId) this.ownRules = new Rules(envId);
    return this.ownRules;
  }
}
