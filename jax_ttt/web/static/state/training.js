// Live training, in the server or in this page: its state, its commands, and its events.

import { rulesOf } from "../engine/rules.js";
import { PLACE } from "../files/storage.js";
import { announce, confirmed, say } from "./messages.js";
import { number } from "./words.js";

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
const MOMENT = 5000; // milliseconds for which the board says that an agent is proven
const DELETE =
  "Delete this training? Its agent and curves are lost. To keep the agent, save it first.";

// The setting that a status has by this name.
function settingOf(status, name) {
  return status.settings[name]?.value ?? status[name];
}

export class Training {
  // Reads `app.source` and `app.agents`, and calls `app.changed()`.
  constructor(app) {
    this.app = app;
    this.source = app.source.training;
    this.status = null; // the newest status of the server; see `status` in training_thread.py
    this.rows = []; // the history of this run: [{ update, grade, games, loss, seconds }]
    this.problem = ""; // why the last command failed
    this.isLost = false; // whether the server does not answer
    this.follow = null; // a function that asks for the newest state, once `listen` is called
    this.moved = {}; // settings that the person moved, and the server does not have yet
    this.provenRun = null; // the run whose first proof was announced
    this.isMoment = false; // whether that was a moment ago
    this.runBefore = null; // the board shows the agent of the run after this one; null: of none
    this.isShown = false; // whether the curves are this training's, not the selected agent's
    this.chosen = null; // what the person chose to learn next; null: what the server has
    this.choice = null; // the request that tells the server, once there was one
    this.seedText = ""; // the seed of the next trainings; where it is no number, any
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
    const seed = this.source.isHere && status !== "idle" ? `, seed ${this.status.seed}` : "";
    const text = STATES[status] + (update ? updates : "") + seed;
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
    if (this.status?.status !== "idle") return;
    this.choice = this.send("reset", learner);
    await this.choice;
  }

  // Show whatever the server sends, while there is a training or the tab "Learning" is open.
  listen() {
    const { settings } = this.app;
    this.follow = this.source.listen(
      (message, isFirst) => this.receive(message, isFirst),
      (isConnected) => this.connect(isConnected),
      () => this.status.status !== "idle" || settings.panel === "learning",
    );
  }

  // Await what `send()` does, or show why it failed. Resolves to whether it succeeded.
  async request(send) {
    try {
      await send();
      this.problem = "";
    } catch (error) {
      this.problem = error.message;
    }
    this.app.changed();
    return this.problem === "";
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

  // Take over a status. `rows` are all rows in the first message of a connection and of a run,
  // else the new ones. An update that was evaluated again, after games of people, has the
  // later row.
  receive({ rows, ...status }, isFirst) {
    const before = this.status;
    const isSameServer = status.server === before?.server;
    const isSameRun = isSameServer && status.run === before.run;
    if (before && !isSameServer && before.status !== "idle") say(GONE);
    const earlier = isSameRun && !isFirst ? this.rows : [];
    const byUpdate = new Map([...earlier, ...rows].map((row) => [row.update, row]));
    this.rows = [...byUpdate.values()];
    const wasProven = this.isProven;
    this.status = status;
    if (status.learner !== before?.learner) this.moved = {};
    for (const [name, value] of Object.entries(this.moved)) {
      if (settingOf(status, name) === value) delete this.moved[name];
    }
    if (status.status === "idle") this.isShown = false;
    else if (!isSameRun) this.isShown = true;
    if (this.isBusy) this.chosen = null;
    if (before && before.status !== status.status) announce(`Training: ${STATES[status.status]}`);
    if (before && isSameRun && this.isProven && !wasProven) this.celebrate();
    this.followAgent(before);
    this.app.changed();
  }

  // Say once in a run that its agent is proven: to screen readers, in the panel, and for a
  // moment on the board.
  celebrate() {
    const { server, run } = this.status;
    const id = `${server} ${run}`;
    if (this.provenRun === id) return;
    this.provenRun = id;
    announce(this.momentText);
    this.isMoment = true;
    clearTimeout(this.momentTimer);
    this.momentTimer = setTimeout(() => {
      this.isMoment = false;
      this.app.changed();
    }, MOMENT);
  }

  get momentText() {
    return `Unbeatable, proven at update ${number(this.status.proven_at)}`;
  }

  // Bring the agent in training up to date in the list, and the selected one where it was
  // evaluated.
  followAgent(before) {
    const { app } = this;
    const { agent, update, snapshots, evaluations } = this.status;
    if ((app.agents.live?.id ?? null) !== agent) {
      app.agents.refresh().then(
        () => this.showNext(),
        () => {},
      );
    } else if (agent !== null) app.agents.grow(agent, { updates: update, snapshots });
    const isEvaluated = evaluations !== before?.evaluations;
    if (agent === null) return;
    this.showNext();
    if (isEvaluated) {
      app.selection.reload(agent);
      app.play.renewOpponent(agent);
    }
  }

  // Show the agent of a training that was started here, once the list has it.
  showNext() {
    const { agent, run } = this.status;
    const isNext = this.runBefore !== null && run !== this.runBefore;
    if (agent === null || !isNext || this.app.agents.live?.id !== agent) return;
    this.runBefore = null;
    this.showAtStart();
  }

  // Send a command: "start", "pause", "continue" or "reset".
  send(command, learner) {
    return this.request(() => this.source.command(command, learner));
  }

  // Train a table at once, on the board of its game.
  async watchOne() {
    this.openGame();
    if (!this.isBusy) {
      await this.choose("table");
      await this.start();
    }
  }

  // Start a training. The agent of the one before is kept first: without that, nothing is
  // started. Another tab may have started one meanwhile, which the server then says.
  async start() {
    const isStarted = await this.request(async () => {
      await this.choice; // the server must have it before: it resets a training
      await this.keepBefore();
      this.runBefore = this.status.run;
      const seed = /^\d{1,9}$/.test(this.seedText.trim()) ? Number(this.seedText) : null;
      await this.source.command("start", this.learner, seed);
    });
    if (!isStarted) this.runBefore = null;
  }

  // Whether the board shows the agent in training, with its values.
  get isOnBoard() {
    const { agents, selection, shown } = this.app;
    const { live } = agents;
    if (live === null || selection.agent?.id !== live.id) return false;
    return selection.update === null && shown.layers.has(live.kind);
  }

  // Show the values and the next moves of the agent in training on the board.
  showOnBoard() {
    const { agents, play, selection, shown } = this.app;
    const { id, kind } = agents.live;
    this.openGame();
    selection.select(id);
    if (play.game.isOver && !play.analysis) play.newGame();
    shown.showLayer(kind, true);
    shown.showLayer("line", true);
  }

  // The same at the start of a training, where no game is lost by it.
  showAtStart() {
    const { play, rules } = this.app;
    const isFree = play.analysis || !play.isUnderWay;
    if (isFree && rules.envId === this.rules.envId) this.showOnBoard();
  }

  // Choose the seed of the next trainings by a text; an empty one stands for any.
  chooseSeed(text) {
    this.seedText = text;
    this.app.changed();
  }

  async keepBefore() {
    const { agent, update } = this.status;
    if (agent === null || update === 0) return;
    const { agents, play } = this.app;
    // A training in this page can be had again by its seed.
    if (this.source.isHere && !(play.opponent.agent === agent && play.isUnderWay)) return;
    const { bytes, file } = await agents.load(agent);
    let id = agents.keptAs(bytes);
    if (id === null) {
      const name = agents.nameFor(file);
      id = agents.keep(name, bytes);
      say(`The agent of the training before is kept ${PLACE} as "${name}".`);
    }
    // A person who plays against it goes on with it, not with the next one.
    this.app.selection.replace(agent, id);
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

  // Show a line of play in which the agent in training loses; `side` is the agent's.
  demonstrate(line, side) {
    this.openGame();
    if (this.status.agent) this.app.selection.select(this.status.agent);
    this.app.play.demonstrate(line, side);
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
    if (await confirmed(DELETE, "Delete the training")) await this.send("reset", this.learner);
  }

  // The value of a setting: the server's, or a newer one of the person.
  valueOf(name) {
    return this.moved[name] ?? settingOf(this.status, name);
  }

  // Move a slider, which takes effect when it is let go.
  move(name, value) {
    this.moved[name] = value;
    this.app.changed();
  }

  // Change sliders, of which null is the default, or whether games of people are learned.
  async change(settings) {
    Object.assign(this.moved, settings);
    const isChanged = await this.request(() => this.source.change(settings));
    if (isChanged) return;
    this.moved = {};
    this.app.changed();
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
    return this.rules.envId === this.app.rules.envId ? "" : this.rules.title;
  }

  // Whether the page offers the game that is learned.
  get isOffered() {
    return this.app.games().some(({ envId }) => envId === this.rules.envId);
  }

  // The rules of the game that is learned; before that is known, of the one that is open.
  get rules() {
    return this.status ? rulesOf(this.status.env_id) : this.app.rules;
  }
}
