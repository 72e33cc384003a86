// The levels of the opponent, and the functions that choose their moves.

// From weak to strong, the same as in players/difficulty.py. `randomShare` is the
// probability of a random move.
export const LEVELS = {
  beginner: { name: "Beginner", randomShare: 0.7 },
  casual: { name: "Casual", randomShare: 0.35 },
  strong: { name: "Strong", randomShare: 0.1 },
  full: { name: "Full strength", randomShare: 0 },
  expert: { name: "Expert (perfect play)", randomShare: 0 },
};

// Whether a name, from a link or from the storage, is that of a level.
export function isLevel(name) {
  return Object.hasOwn(LEVELS, name);
}

const MOST_CELLS = 25; // of boards on which the browser solves every position in time
const EXACT_SECONDS = 10; // for a move of perfect play

// The levels of a game. The expert needs a game that the browser solves.
export function levelsOf(rules) {
  const names = Object.keys(LEVELS);
  return isSolved(rules) ? names : names.filter((name) => name !== "expert");
}

export function isSolved(rules) {
  return rules.numCells <= MOST_CELLS;
}

// Whether the agents of a game may search: in tic-tac-toe a search knows everything.
export function isSearched(rules) {
  return !rules.isEnumerable;
}

// Whether the grade in an agent's file says that nobody beats it in either seat.
export function isProven(agent) {
  const grade = agent?.file.grade;
  return grade?.unbeatable === true && grade.seats.length === 2;
}

// A level's name; "Unbeatable" only where that is proven.
export function levelName(level, agent, depth) {
  if (level !== "full") return LEVELS[level].name;
  return isProven(agent) && depth === 0
    ? "Unbeatable (learned agent)"
    : "Learned agent at its best";
}

// What a level plays, in a sentence.
export function levelText(level, agent, depth) {
  const { randomShare } = LEVELS[level];
  if (level === "expert")
    return "Exact play from the solved game. It never loses a drawn position.";
  if (level === "full") {
    if (depth) return "The learned agent with its search. A proof is of the agent alone.";
    if (isProven(agent))
      return "The learned agent without mistakes. Proven: no line of play beats it.";
    const isBeaten = agent?.file.grade?.unbeatable === false;
    return isBeaten
      ? "The learned agent without mistakes of its own. Some line of play beats it."
      : "The learned agent without random moves. Not proven unbeatable.";
  }
  const share = Math.round(100 * randomShare);
  return `${share} % random moves, else the learned agent's. You can beat it.`;
}

function randomOf(actions) {
  return actions[Math.floor(Math.random() * actions.length)];
}

// The move of an agent, which looks `depth` moves ahead.
export function agentPlayer({ engine, rules, load, depth }) {
  return async (position) => {
    const agent = await load();
    const { move } = await engine.values({ envId: rules.envId, agent, position, depth });
    return move;
  };
}

// One of the moves that keep the exact result.
export function perfectPlayer({ engine, rules }) {
  return async (position) => {
    const request = { envId: rules.envId, position, seconds: EXACT_SECONDS };
    const exact = await engine.exact(request);
    if (exact === null) throw new Error("This position was not solved in time.");
    const moves = exact.actions.filter(({ value }) => value === exact.value);
    return randomOf(moves.map(({ action }) => action));
  };
}

// The function that moves for a level.
export function levelPlayer(level, { engine, rules, load, depth }) {
  if (level === "expert") return perfectPlayer({ engine, rules });
  const { randomShare } = LEVELS[level];
  const learned = agentPlayer({ engine, rules, load, depth });
  return async (position) => {
    if (Math.random() < randomShare) return randomOf(rules.legal(position));
    return learned(position);
  };
}
