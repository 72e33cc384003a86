// Training in the page's worker, for a page without a server: the commands and messages are
// those of the server's training (web/training_thread.py).

import { LEARNERS, checkMoved, startOf } from "../engine/learner_settings.js";
import { writeAgent } from "../files/agent_writer.js";

const ENV_ID = "tic_tac_toe";
const SEND_EVERY = 100; // milliseconds at least between two states without an evaluation
const MAX_SEEDS = 1000; // of those that are drawn, so that they are easy to type
const LEARNER_TEXTS = Object.entries(LEARNERS).map(([id, { title, help }]) => ({
  id,
  title,
  help,
}));
const FIGURES = {
  update: 0,
  games: 0,
  wins: { x: 0, o: 0 },
  draws: 0,
  loss: null,
  positions_learned: null,
  unbeatable: null,
  proven_at: null,
};

// A source (see source.js) that has no training, with a training by the engine.
export function trainHere(source, engine) {
  const training = new LocalTraining(engine);
  return {
    ...source,
    training,
    agents: async () => {
      const { agents, refused } = await source.agents();
      return { agents: [...agents, ...training.entries], refused };
    },
    file: async (id, update = null) => training.file(id, update) ?? source.file(id, update),
  };
}

function noneMoved() {
  return Object.fromEntries(Object.keys(LEARNERS).map((name) => [name, {}]));
}

class LocalTraining {
  engine; onMessage;

  constructor(engine) {
    this.engine = engine;
    this.isHere = true; // this page trains, with a seed that may be chosen
    this.page = crypto.getRandomValues(new Uint32Array(1))[0].toString(16); // names this load
    this.learner = "table";
    this.moved = noneMoved(); // sliders, by learner
    this.run = null;
    this.numRuns = 0;
  }

  // Call `onMessage(status, isFirst)` now and after each change.
  listen(onMessage) {
    this.onMessage = onMessage;
    onMessage(this.status([]), true);
  }

  // Obey "start", "pause", "continue" or "reset". A start may name a `seed`; without it, one
  // is drawn. It ends the training before.
  async command(name, learner = this.learner, seed = null) {
    if (name === "start" || name === "reset") {
      this.learner = learner;
      this.run = null;
    }
    if (name === "start") this.start(seed ?? 1 + Math.floor(MAX_SEEDS * Math.random()));
    else if (name === "reset") {
      this.moved = noneMoved();
      await this.engine.direct({ name: "stop" });
    } else await this.engine.direct({ name });
    this.send([]);
  }

  start(seed) {
    this.numRuns += 1;
    const { learner } = this;
    const run = {
      id: `live/${this.page}-${this.numRuns}`,
      seed,
      status: "running",
      figures: { ...FIGURES, num_updates: LEARNERS[learner].config.num_updates },
      settings: {}, // of the next update
      rows: [],
      snapshots: new Map(), // by update: { agent, bytes (null until it is asked for) }
      error: null,
      sentAt: 0, // the time of the last message of it
    };
    this.run = run;
    const ifCurrent = (use) => (value) => run === this.run && use(value);
    const onStep = ifCurrent((message) => this.receive(run, message));
    this.engine.learn({ learner, seed, settings: this.moved[learner], onStep }).then(
      ifCurrent(({ status }) => this.end(run, status, null)),
      ifCurrent((error) => this.end(run, "failed", error.message)),
    );
  }

  // Take over a message of `PacedRun`.
  receive(run, { status, row, agent, settings, ...figures }) {
    const now = performance.now();
    const isNews = row !== null || status !== run.status || now - run.sentAt > SEND_EVERY;
    Object.assign(run, { status, figures, settings });
    if (!isNews) return;
    run.sentAt = now;
    if (row !== null) {
      run.rows.push(row);
      run.snapshots.set(row.update, { agent, bytes: null });
    }
    this.send(row === null ? [] : [row]);
  }

  end(run, status, error) {
    Object.assign(run, { status, error });
    this.send([]);
  }

  send(rows) {
    this.onMessage?.(this.status(rows), false);
  }

  async change(settings) {
    const { learner, moved, run } = this;
    checkMoved(learner, settings);
    const entries = Object.entries({ ...moved[learner], ...settings });
    moved[learner] = Object.fromEntries(entries.filter(([, value]) => value !== null));
    for (const [name, value] of Object.entries(settings)) {
      // A finished run reports no other value.
      if (value === null) delete run?.settings[name];
    }
    if (run !== null) await this.engine.direct({ name: "change", settings });
    this.send([]);
  }

  // The training's state with its new rows.
  status(rows) {
    const { learner, run } = this;
    return {
      server: this.page,
      run: run === null ? 0 : this.numRuns,
      agent: run?.snapshots.size ? run.id : null,
      learner,
      learners: LEARNER_TEXTS,
      env_id: ENV_ID,
      from_people: false,
      status: run?.status ?? "idle",
      seed: run?.seed ?? null,
      ...(run?.figures ?? { ...FIGURES, num_updates: LEARNERS[learner].config.num_updates }),
      evaluations: run?.rows.length ?? 0,
      settings: this.sliders(),
      snapshots: [...(run?.snapshots.keys() ?? [])],
      error: run?.error ?? null,
      learn_from_people: false,
      rows,
    };
  }

  sliders() {
    const { sliders } = LEARNERS[this.learner];
    const moved = this.moved[this.learner];
    const entries = Object.entries(sliders).map(([name, [min, max]]) => {
      const start = startOf(this.learner, name);
      const value = moved[name] ?? this.run?.settings[name] ?? start;
      return [name, { value, min, max, default: start, moved: name in moved }];
    });
    return Object.fromEntries(entries);
  }

  // The agent in training as an entry of the list of agents; empty without one.
  get entries() {
    const { learner, run } = this;
    if (!run?.snapshots.size) return [];
    const snapshots = [...run.snapshots.keys()];
    const updates = snapshots.at(-1);
    const shared = { id: run.id, name: learner, kind: learner, env_id: ENV_ID };
    return [{ ...shared, source: "live", updates, snapshots }];
  }

  // The file of the agent in training at an evaluation, null for the last one; null if `id`
  // is another agent's.
  file(id, update) {
    const { run } = this;
    if (!run || id !== run.id) return null;
    const snapshot = run.snapshots.get(update ?? [...run.snapshots.keys()].at(-1));
    if (!snapshot) return null;
    snapshot.bytes ??= writeAgent(snapshot.agent);
    return snapshot.bytes;
  }
}
