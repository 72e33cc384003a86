// What the board shows on the first screen: the selected agent plays against itself, slowly,
// and the values of its moves shade the board. The person's own game is not touched.

const MOVE_WAIT = 1300; // ms for which a position is shown
const END_WAIT = 3000; // ms for which the end of a game is shown

export class Show {
  constructor(app) {
    this.app = app;
    this.position = null; // that is shown; null where there is no show
    this.values = null; // of its moves, by action; null after the end
    this.isMoving = false; // whether it goes on by itself
    this.isPaused = false;
    this.round = 0; // grows with each begin and end, so that late answers are dropped
  }

  // Begin with an empty board, if the page shows the first screen.
  begin() {
    this.end();
    if (!this.app.isInviting) return;
    const { round } = this;
    this.play(round).catch(() => round === this.round && this.end());
  }

  end() {
    this.round += 1;
    this.position = null;
    this.values = null;
    this.isMoving = false;
  }

  // Pause, or go on.
  pause() {
    this.isPaused = !this.isPaused;
    this.app.changed();
  }

  async play(round) {
    const { app } = this;
    const { rules } = app;
    // A person who wants no movement sees the values of the empty board.
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    await app.ready;
    await app.selection.load();
    if (round !== this.round || app.selection.loaded === null) return;
    let position = rules.start;
    for (;;) {
      const isOver = rules.isOver(position);
      const answer = isOver ? null : await this.answer(position);
      if (round !== this.round) return;
      this.position = position;
      this.values = answer && answer.values;
      this.isMoving = !isStill;
      app.changed();
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

  answer(position) {
    const { engine, rules, selection } = this.app;
    return engine.values({ envId: rules.envId, agent: selection.loaded, position });
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function randomMove(rules) {
  const actions = rules.legal(rules.start);
  return actions[Math.floor(Math.random() * actions.length)];
}
