// A run that another process trains, and that this page watches by its server.

import { Rules, rulesOf } from "../engine/rules.js";
import { Learning } from "./learning.js";
import { number } from "./words.js";

const STATES = { training: "running", ended: "stopped", stopped: "stopped", gone: "gone" };
const NO_FIGURES = { update: 0, num_updates: 0, games: 0, loss: null };

export class FollowedRun extends Learning {
  constructor(app) {
    super(app);
    this.state = "waiting";
    this.rules = null;
    this.figures = NO_FIGURES;
    this.name = null; // of the run's folder; null while no run is watched
    this.plan = {}; // { env_id, preset, seed, num_updates, kind }; empty if not known
    this.snapshots = [];
    this.wasShown = false; // whether its first agent has arrived
    this.isLost = false; // whether the server does not answer
    this.close = () => {}; // ends the stream
  }

  // Watch a run; null ends it.
  watch(name) {
    this.close();
    this.close = () => {};
    this.clear();
    Object.assign(this, { name, state: "waiting", plan: {}, snapshots: [] });
    Object.assign(this, { rules: null, figures: NO_FIGURES });
    this.isLost = false;
    this.wasShown = false;
    this.app.showLearning(name === null ? null : this);
    if (name === null) return;
    this.close = this.app.source.follow(
      name,
      (news) => this.receive(news),
      (isConnected) => {
        this.isLost = !isConnected;
        this.app.changed();
      },
    );
  }

  get agentId() {
    return this.rules === null || this.snapshots.length === 0 ? null : `run/${this.name}`;
  }

  get details() {
    const { seed, preset } = this.plan;
    const plan = seed === undefined ? "" : `, preset ${preset}, seed ${seed}`;
    return plan + (this.isLost ? ". The server does not answer; this was its last state." : "");
  }

  // The figures in words: [[name, text]].
  get cards() {
    const { games, loss } = this.figures;
    return [
      ["Games", number(games)],
      ["Loss", typeof loss === "number" ? loss.toPrecision(2) : "–"],
    ];
  }

  // Take over news: see `News` in web/followed_runs.py.
  receive({ state, is_first: isFirst, plan, snapshots, rows, counts }) {
    const newest = this.snapshots.at(-1);
    const isKnown = this.state !== "waiting";
    const before = this.state;
    if (isFirst) {
      this.rows = [];
      this.figures = NO_FIGURES;
    }
    this.addRows(rows);
    Object.assign(this, { plan, snapshots });
    const { env_id: envId = "", num_updates = 0 } = plan;
    this.rules = Rules.knows(envId) ? rulesOf(envId) : null;
    this.figures = { ...this.figures, ...counts, num_updates };
    const { update } = this.figures;
    const isFinished = state === "ended" && (update >= num_updates || this.provenAt !== null);
    this.setState(isFinished ? "finished" : STATES[state]);
    if (!isKnown) this.wasProven = this.provenAt !== null;
    else if (rows.length > 0) this.celebrateProof();
    // The list has the run as an agent, which is the newest snapshot or, at the end, another.
    if (snapshots.at(-1) !== newest || this.state !== before) this.refreshAgent();
    this.app.changed();
  }

  async refreshAgent() {
    const { name } = this;
    const refresh = () => this.app.agents.refresh();
    // There may be no later news; without an answer the list stays.
    await refresh().catch(refresh).catch(() => {});
    if (name !== this.name || this.entry === null) return;
    const isFirst = !this.wasShown;
    this.wasShown = true;
    if (isFirst) this.showAtStart();
    else this.reloadAgent();
  }
}
