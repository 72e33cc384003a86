// Each move of a game compared with exact play, or with the agent's own search where a
// position is not solved in time.

const SECONDS = 1; // for the exact result of one position
const DEPTH = 4; // moves that the agent's search looks ahead
const MISTAKE = 0.3; // how much of the searched value a move gives away
const BLUNDER = 1;
const WORDS = ["loss", "draw", "win"];

export function outcomeWord(value) {
  return WORDS[value + 1];
}

// A number of moves of both players in words.
export function inMoves(moves) {
  return moves === 1 ? "1 move" : `${moves} moves`;
}

function judgeExactly(exact, action) {
  const own = exact.actions.find((one) => one.action === action);
  return {
    isExact: true,
    before: exact.value,
    after: own.value,
    moves: own.moves,
    bestMoves: exact.moves,
    best: exact.best,
    loss: exact.value - own.value,
  };
}

function judgeBySearch({ values, move }, action) {
  const loss = values[move] - values[action];
  return { isExact: false, before: values[move], after: values[action], best: [move], loss };
}

// The mark of a move that gave something away: { sign, text }, or null. `signed` writes a
// searched value.
export function markOf(judged, signed) {
  if (!judged) return null;
  const { isExact, before, after, loss } = judged;
  if (isExact) {
    if (loss === 0) return null;
    const text = `mistake: from a ${outcomeWord(before)} to a ${outcomeWord(after)}`;
    return { sign: loss === 2 ? "??" : "?", text };
  }
  if (loss < MISTAKE) return null;
  const text = `mistake by the agent's search: from ${signed(before)} to ${signed(after)}`;
  return { sign: loss < BLUNDER ? "?" : "??", text };
}

// What a move without a mark did, in words.
export function verdictOf(judged, action, signed) {
  if (!judged) return "";
  const { isExact, after, moves, bestMoves, best } = judged;
  if (!isExact) return `worth ${signed(after)} by the agent's search`;
  if (after === 0) return "keeps the draw";
  const isBest = best.includes(action);
  if (after > 0) return isBest ? `wins in ${inMoves(moves)}` : `still wins, in ${inMoves(moves)}`;
  if (isBest) return `lost in any case: holds out longest, ${inMoves(moves)}`;
  return `loses in ${inMoves(moves)}; ${inMoves(bestMoves)} were possible`;
}

// How many of a side's moves were best. In a lost position no move is best, so these are
// not counted.
export function summary(judgements, sides, side) {
  const own = judgements.filter((one, ply) => one && sides[ply] === side);
  const open = own.filter((one) => !(one.isExact && one.before < 0));
  const best = open.filter((one) => (one.isExact ? one.loss === 0 : one.loss < MISTAKE));
  const lost = own.length - open.length;
  const text = `Best moves: ${best.length} of your ${open.length}`;
  return lost ? `${text}, and ${lost} more in a lost position` : text;
}

// The judgements of a game's moves, kept by position and agent. They arrive one by one.
export class Review {
  constructor({ engine, changed }) {
    Object.assign(this, { engine, changed });
    this.judgements = new Map();
    this.queue = Promise.resolve();
  }

  // The judgements of the moves: one for each, null where it has not arrived. `agent` is
  // the loaded agent that searches where a position is not solved; null for none.
  of(game, agent) {
    return game.moves.map((action, ply) => this.judgement(game, ply, action, agent));
  }

  judgement(game, ply, action, agent) {
    const position = game.positions[ply];
    const key = [game.rules.envId, game.rules.key(position), action, agent?.key].join("|");
    if (!this.judgements.has(key)) {
      this.judgements.set(key, null);
      const judge = () => this.judge(game.rules, position, action, agent);
      this.queue = this.queue.then(judge).then(
        (judged) => {
          this.judgements.set(key, judged);
          this.changed();
        },
        () => this.judgements.delete(key),
      );
    }
    return this.judgements.get(key);
  }

  async judge(rules, position, action, agent) {
    const { envId } = rules;
    const exact = await this.engine.exact({ envId, position, seconds: SECONDS });
    if (exact !== null) return judgeExactly(exact, action);
    if (agent === null) return null;
    const values = await this.engine.values({ envId, agent, position, depth: DEPTH });
    return judgeBySearch(values, action);
  }
}
