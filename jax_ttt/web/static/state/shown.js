// What the board shows besides the game: layers of values, marks of mistakes, and a hint.

import { BoardValues } from "./board_values.js";
import { announce, say } from "./messages.js";
import { observe } from "./observe.js";
import { Review, judgeByProof, markOf } from "./review.js";

export class Shown {
  settings; selection; play; grades;
  hint = null; // { game, key, action, reason }
  isHinting = false; // whether a hint is being computed

  constructor({ engine, settings, selection, play, grades }) {
    Object.assign(this, { settings, selection, play, grades });
    this.boardValues = new BoardValues(engine);
    this.review = new Review(engine);
    observe(this, "hint", "isHinting");
  }

  // ---- layers of values

  // The layers that are shown; an analysis has choices of its own.
  get layers() {
    return this.play.analysis?.layers ?? this.settings.layers;
  }

  showLayer(layer, isShown) {
    const { analysis } = this.play;
    if (analysis) analysis.showLayer(layer, isShown);
    else this.settings.setLayer(layer, isShown);
  }

  // The agents whose values are shown: [{ kind, entry, loaded }].
  get agents() {
    const { selection } = this;
    const kinds = selection.kinds.filter((kind) => this.layers.has(kind));
    return kinds.map((kind) => ({ kind, ...selection.agentOfKind(kind) }));
  }

  // Who wins the game by the proof of the selected agent: see `BoardValues.provenWinner`.
  get proof() {
    const { loaded } = this.selection;
    const { game } = this.play;
    const hasStart = game.start === game.rules.start;
    const isShown = this.layers.has("exact") || this.settings.panel === "compare";
    if (!isShown || !loaded || !hasStart) return null;
    const sides = this.grades.provenSides(loaded);
    const moves = game.moves.slice(0, game.at);
    return this.boardValues.provenWinner({ rules: game.rules, moves, agent: loaded, sides });
  }

  // The values on the board, as `BoardValues.layers` returns them.
  values() {
    const { rules, position } = this.play.game;
    return this.boardValues.layers({
      rules,
      position,
      withExact: this.layers.has("exact"),
      agents: Object.fromEntries(this.agents.map(({ kind, loaded }) => [kind, loaded])),
      depth: this.depth,
      proof: this.proof,
    });
  }

  // The number of moves that the agents look ahead.
  get depth() {
    const { analysis, opponent } = this.play;
    return analysis ? this.selection.choices.depth : opponent.depth;
  }

  // The next moves of the selected agent, which plays both sides; empty if they are not shown.
  get line() {
    if (!this.layers.has("line")) return [];
    const { rules, position } = this.play.game;
    const agent = this.selection.loaded;
    return this.boardValues.line({ rules, position, agent, depth: this.depth });
  }

  // See `BoardValues.exactState`.
  get exactState() {
    const { rules, position } = this.play.game;
    return this.boardValues.exactState(rules, position, this.proof);
  }

  // Whether the opponent is an earlier state of the selected agent, which has learned since.
  get isOpponentEarlier() {
    const { loaded } = this.selection;
    const { opponent, analysis } = this.play;
    if (analysis || !loaded || opponent.agent !== loaded.id) return false;
    const isSame = opponent.update === loaded.update;
    return isSame && opponent.loaded !== null && opponent.loaded.key !== loaded.key;
  }

  // ---- marks of mistakes

  // Whether the moves are compared with best play: at the end of a game, in an analysis, or
  // while mistakes are marked.
  get isReviewed() {
    const { game, analysis } = this.play;
    return this.layers.has("mistakes") || game.isOver || analysis !== null;
  }

  // The judgements of the moves; nothing before they are asked for.
  judgements() {
    const { game } = this.play;
    if (!this.isReviewed || game.moves.length === 0) return [];
    const judgements = this.review.judgementsOf(game, this.selection.loaded);
    const loss = this.provenLoss;
    if (!loss) return judgements;
    return judgements.map((judged, ply) => {
      if (judged?.isExact) return judged;
      const isWinners = game.rules.toMove(game.positions[ply]) === loss.side;
      return judgeByProof({ isWinners, origin: loss.origin }, game.moves[ply]);
    });
  }

  // The proof by which the person lost a finished game before its first move: the agent at its
  // best is proven to win every game on its side, and each of its moves was its own. See
  // `BoardValues.provenWinner`.
  get provenLoss() {
    const { game, opponent } = this.play;
    const isWhole = game.start === game.rules.start && game.result === "lost";
    if (!isWhole || !opponent.isAlone || opponent.loaded === null) return null;
    const sides = this.grades.provenSides(opponent.loaded);
    const { rules, moves } = game;
    return this.boardValues.provenWinner({ rules, moves, agent: opponent.loaded, sides });
  }

  // The marks of the moves, null for a move without one. In a line that beats the agent,
  // only the agent's mistakes are of interest; while the person plays, only their own.
  marks() {
    const { game, demoSide } = this.play;
    return this.judgements().map((judged, ply) => {
      const side = game.rules.toMove(game.positions[ply]);
      const isOfInterest = game.isDemo
        ? side !== demoSide
        : game.isOver || game.side === null || side === game.side;
      return isOfInterest ? markOf(judged) : null;
    });
  }

  // The marks of the stones on the board, by cell.
  markedCells() {
    const { game } = this.play;
    const marks = this.marks();
    const cells = new Map();
    for (let ply = 0; ply < game.at; ply += 1) {
      if (marks[ply]) cells.set(game.positions[ply + 1].last, marks[ply]);
    }
    return cells;
  }

  // ---- a hint

  get canHint() {
    const { game, analysis } = this.play;
    return game.isPersonsTurn && !analysis?.setup;
  }

  // Show one good move of the position, with its reason.
  async showHint() {
    if (!this.canHint) return;
    this.play.leaveInvitation();
    const { game } = this.play;
    const { rules, position } = game;
    const agent = this.selection.loaded;
    this.isHinting = true;
    try {
      const { action, reason } = await this.boardValues.hint({ rules, position, agent });
      this.hint = { game, key: rules.key(position), action, reason };
      announce(`Hint: ${reason}.`);
    } catch (error) {
      say(error.message);
    }
    this.isHinting = false;
  }

  // The hint of the position that is shown, or null.
  get currentHint() {
    const { hint } = this;
    const { game } = this.play;
    const isHere = hint?.game === game && hint.key === game.rules.key(game.position);
    return isHere ? hint : null;
  }

  // The reason of the hint that is shown, or null.
  get hintText() {
    if (this.isHinting) return "Looking for a good move…";
    return this.currentHint && `Hint: ${this.currentHint.reason}.`;
  }

  // ---- all of it

  // What the board shows, as `Board` takes it.
  board() {
    const { game, analysis } = this.play;
    const { rules } = game;
    if (analysis?.setup) {
      return { rules, position: analysis.setup.position, playable: true, isSetup: true };
    }
    return {
      rules,
      position: game.position,
      playable: game.isPersonsTurn,
      moved: game.moved,
      owner: game.side,
      layers: this.values(),
      line: this.line,
      hint: this.currentHint?.action ?? null,
      marks: this.markedCells(),
      hasNumbers: this.layers.has("numbers"),
    };
  }
}
