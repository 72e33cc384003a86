// What the board shows on the first screen: the selected agent plays against itself, slowly,
// and the values of its moves shade the board. The person's own game is not touched.

import { batch, effect, untracked } from "../vendor/preact.js";
import { pause } from "./game.js";
import { observe } from "./observe.js";

const MOVE_WAIT = 1300; // ms for which a position is shown
const END_WAIT = 3000; // ms for which the end of a game is shown

export class SelfPlay {
  settings; agents; selection; engine;
  position = null; // that is shown; null where it is not shown
  values = null; // of its moves, by action; null after the end
  isMoving = false; // whether it goes on by itself
  isPaused = false;

  // It begins with an empty board whenever the page shows the first screen of a game.
  constructor({ settings, agents, selection, engine }) {
    Object.assign(this, { settings, agents, selection, engine });
    observe(this, "position", "values", "isMoving", "isPaused");
    this.round = 0; // grows with each begin and end, so that late answers are dropped
    effect(() => {
      const { isInviting, rules } = settings;
      untracked(() => this.restart(isInviting, rules));
    });
  }

  restart(isInviting, rules) {
    this.end();
    if (!isInviting) return;
    const { round } = this;
    this.play(round, rules).catch(() => round === this.round && this.end());
  }

  end() {
    this.round += 1;
    batch(() => Object.assign(this, { position: null, values: null, isMoving: false }));
  }

  // Pause, or go on.
  pause() {
    this.isPaused = !this.isPaused;
  }

  async play(round, rules) {
    // A person who wants no movement sees the values of the empty board.
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    await this.agents.ready;
    const { agent, update } = this.selection;
    if (round !== this.round || agent === null) return;
    const loaded = await this.agents.load(agent.id, update);
    if (round !== this.round) return;
    let position = rules.start;
    for (;;) {
      const isOver = rules.isOver(position);
      const request = { envId: rules.envId, agent: loaded, position };
      const answer = isOver ? null : await this.engine.values(request);
      if (round !== this.round) return;
      const values = answer && answer.values;
      batch(() => Object.assign(this, { position, values, isMoving: !isStill }));
      if (isStill) return;
      do await pause(isOver ? END_WAIT : MOVE_WAIT);
      while (round === this.round && (document.hidden || this.isPaused));
      if (round !== this.round) return;
      if (isOver) position = rules.start;
      // A random move first, since the agent's games are all the same.
      else if (position === rules.start) position = rules.after(position, randomMove(rules));
      else position = rules.after(position, answer.move);
    }
  }

  // What the board shows of it, as `Board` takes it; the person's game stays below it.
  board(game) {
    const { rules, position, isPersonsTurn: playable } = game;
    const values = Object.entries(this.values ?? []);
    const shades = new Map(values.map(([action, value]) => [+action, value]));
    return { rules, position, playable, ghost: this.position, shades };
  }
}

function randomMove(rules) {
  const actions = rules.legal(rules.start);
  return actions[Math.floor(Math.random() * actions.length)];
}
