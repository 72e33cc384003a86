// What the page computes, in Node: `node page_tasks.mjs FOLDER`, with the folder of the page's
// modules. Reads tasks as JSON, [[name, arguments], ...], and prints their results as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`));
const { DATA } = await load("engine/page_data.js");
const { Rules, SEATS, SIDES, gameOf } = await load("engine/rules.js");
const { decideAtOnce, solve } = await load("engine/solver.js");
const { gradeOf, lookaheadValues } = await load("engine/search.js");
const { ResultSolver } = await load("engine/result_solver.js");
const { checkLines, compareMoves } = await load("engine/agent_lines.js");
const { readAgent } = await load("files/agent_file.js");
const { makePlayer } = await load("engine/players.js");
const { activationsOf } = await load("engine/activations.js");
const { countByStones } = await load("engine/corrections.js");
const { sha256, sha256ByHand } = await load("files/sha256.js");
const { BoardValues, chooseHint, provenText } = await load("state/board_values.js");
const { Grades, provenFrom, ratesOf, sourceOfRates } = await load("state/grades.js");
const { movesText } = await load("state/comparison.js");
const { Resource } = await load("state/resource.js");
const { Game } = await load("state/game.js");
const { Opponent } = await load("state/opponent.js");
const { Shown } = await load("state/shown.js");
const { summary, verdictOf } = await load("state/review.js");
const { gameText, spokenStatus, statusOf, titleOf } = await load("state/status.js");

const agentOf = (path) => readAgent(new Uint8Array(readFileSync(path)).buffer);

const { cells: rows } = JSON.parse(readFileSync(`${folder}/tic_tac_toe.json`));

// The player of an agent's file.
async function playerOf(path) {
  const agent = await agentOf(path);
  const rules = new Rules(agent.envId);
  return { rules, agent, player: makePlayer(rules, agent, rows) };
}

// Wait until all that was asked for has been answered.
const arrived = () => new Promise((resolve) => setTimeout(resolve));
const hexOf = (bytes) => Buffer.from(bytes).toString("hex");

// An engine that computes in this thread, without a worker; no position is solved in time.
function engineOf(rules, player, areAllOwn = false) {
  return {
    exact: async () => null,
    values: async ({ position }) => ({
      values: player.values(position),
      move: player.move(position),
    }),
    agentMoves: async ({ moves, side }) => {
      if (areAllOwn) return { areAgents: moves.map(() => true) };
      return compareMoves(rules, player, moves, side);
    },
  };
}

// The state of a page with a person's game against an agent, as far as its words need it.
function pageOf({ rules, agent, player, level, depth, moves, side, ...options }) {
  const { start = rules.start, computed, areAllOwn } = options;
  const loaded = { key: "one", id: "one", update: null, file: agent };
  const engine = engineOf(rules, player, areAllOwn);
  const settings = { layers: new Set(), panel: "game" };
  const selection = { loaded };
  const grades = new Grades({ engine });
  if (computed) grades.keep(loaded, computed);
  const opponent = new Opponent({ grades, rules }, { level, depth, name: "One" });
  Object.assign(opponent, { loaded, side: side === "x" ? "o" : "x" });
  const players = { x: side === "x" ? null : () => {}, o: side === "o" ? null : () => {} };
  const game = new Game({ rules, players, stepped() {}, moves, start });
  const play = { game, opponent, analysis: null, demoSide: null };
  const shown = new Shown({ engine, settings, selection, play, grades });
  const learn = { training: {}, followed: {}, onBoard: null };
  return { grades, learn, play, selfPlay: { position: null }, shown };
}

// Wait until what the status needs is computed; each answer may lead to another request.
async function settled(page) {
  for (let i = 0; i < 4; i += 1) {
    statusOf(page);
    await arrived();
  }
}

// The moves of a game of an agent on a side, whose opponent plays the first legal move. The
// agent's first move is another one unless `isOwn`.
function playedMoves({ rules, player, agentSide, isOwn, start = rules.start }) {
  const moves = [];
  let position = start;
  while (!rules.isOver(position)) {
    const isAgents = rules.toMove(position) === agentSide;
    const own = isAgents ? player.move(position) : null;
    const others = rules.legal(position).filter((action) => action !== own);
    const action = isAgents && (isOwn || moves.length > 1) ? own : others[0];
    moves.push(action);
    position = rules.after(position, action);
  }
  return moves;
}

// Random numbers that are the same each time.
function randomNumbers() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const TASKS = {
  // What is true before and after each move of a game.
  game({ envId, moves }) {
    const rules = new Rules(envId);
    const positions = rules.positions(moves).map((position) => {
      const { stones, places } = rules.canonical(position);
      const again = rules.fromKey(rules.key(position)).position;
      const [text, other] = [position, again].map((one) => JSON.stringify({ ...one, last: null }));
      return {
        legal: rules.legal(position),
        cells: [...position.cells],
        results: SIDES.map((side) => rules.result(position, side)),
        row: position.row,
        canonical: [...stones],
        places,
        isReadAgain: text === other,
      };
    });
    const { envId: name, isEnumerable } = rules;
    return { name, game: gameOf(envId), isEnumerable, positions, next: rules.positions([...moves, 0]) };
  },

  bestResults({ envIds }) {
    return envIds.map((envId) => new Rules(envId).bestResult);
  },

  // Why each board is refused.
  impossible({ boards }) {
    return boards.map(([envId, key]) => new Rules(envId).fromKey(key).error ?? null);
  },

  // The exact values of boards, and the moves among them that are known at once.
  exact({ envId, boards }) {
    const rules = new Rules(envId);
    return boards.map((cells) => {
      const stones = cells.map((stone) => ({ 1: "x", "-1": "o" })[stone] ?? null);
      const { position } = rules.setUp(stones);
      return [solve(rules, position), decideAtOnce(rules, position)];
    });
  },

  // The hint in a position of tic-tac-toe, with an agent or without.
  async hint({ path, moves }) {
    const rules = new Rules("tic_tac_toe");
    const position = rules.positions(moves).at(-1);
    const player = path && (await playerOf(path)).player;
    const learned = player && { values: player.values(position), isTable: player.isTable };
    const { action, asGood } = chooseHint(solve(rules, position), learned);
    return [action, asGood];
  },

  // What follows from the rows of a training.
  history({ rows: evaluations }) {
    const rates = evaluations.map(({ grade }) => {
      const pairs = SIDES.map((side) => [SEATS[side], ratesOf(grade, side)]);
      return Object.fromEntries(
        pairs
          .filter(([, one]) => one)
          .map(([seat, one]) => [seat, [one.win_rate, one.draw_rate, one.loss_rate, one.isExact]]),
      );
    });
    return { provenFrom: provenFrom(evaluations), source: sourceOfRates(evaluations), rates };
  },

  // The SHA-256 of bytes, by the platform and where it has no digests.
  async digests({ size }) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (size * i) % 256);
    return [await sha256(bytes), hexOf(sha256ByHand(bytes))];
  },

  // An agent's values and moves in positions, and its values by a search.
  async agent({ path, positions, depth }) {
    const { rules, agent, player } = await playerOf(path);
    const all = positions.map((moves) => rules.positions(moves).at(-1));
    return {
      game: agent.envId,
      updates: agent.updates,
      values: all.map((one) => [...player.values(one)]),
      moves: all.map((one) => player.move(one)),
      searched: depth && all.map((one) => [...lookaheadValues(rules, player, one, depth)]),
    };
  },

  // The integers of a network in positions with the first player to move.
  async scores({ path, cells }) {
    const { rules, player } = await playerOf(path);
    const stones = new Int8Array(Buffer.from(cells, "base64"));
    const scores = new Int32Array((stones.length / rules.numCells) * rules.numActions);
    for (let board = 0; board * rules.numCells < stones.length; board += 1) {
      const begin = board * rules.numCells;
      const position = { cells: stones.slice(begin, begin + rules.numCells), sign: 1, row: [] };
      scores.set(player.scores({ ...position, last: null }), board * rules.numActions);
    }
    return Buffer.from(scores.buffer).toString("base64");
  },

  // An agent's grade, by following all of its lines.
  async grade({ path }) {
    const { rules, player } = await playerOf(path);
    const steps = gradeOf(rules, player);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  },

  // The result of the empty board to the first player, by game.
  emptyBoards({ envIds }) {
    // A board that the first player loses in a moment; the package does not have it.
    DATA.games.connect_6x4 = { ...DATA.games.connect_5x4, columns: 6 };
    return envIds.map((envId) => {
      const rules = new Rules(envId);
      return new ResultSolver(rules).result(rules.start, Infinity);
    });
  },

  // The result of each legal move, by position.
  results({ envId, games }) {
    const rules = new Rules(envId);
    const solver = new ResultSolver(rules);
    return games.map((moves) => {
      const position = rules.positions(moves).at(-1);
      const resultOf = (after) => {
        if (after.row.length > 0) return 1;
        return rules.isOver(after) ? 0 : -solver.result(after, Infinity);
      };
      return rules.legal(position).map((action) => resultOf(rules.after(position, action)));
    });
  },

  // What `solve` says of a position if it may look at the clock this often.
  solve({ envId, moves, looks }) {
    const rules = new Rules(envId);
    const { now } = Date;
    let time = 0;
    Date.now = () => (time += 1);
    const solved = solve(rules, rules.positions(moves).at(-1), looks / 1000);
    Date.now = now;
    return solved;
  },

  // Which moves of X are the agent's, by game.
  async compareMoves({ path, games, side }) {
    const { rules, player } = await playerOf(path);
    return games.map((moves) => compareMoves(rules, player, moves, side));
  },

  // The values of the moves after each game by an agent's look-ahead, and by a search without its
  // bounds and memory; null where illegal.
  async lookahead({ path, games, depth }) {
    const { rules, player } = await playerOf(path);
    const worth = (after, depth) => {
      if (after.row.length > 0) return 1;
      if (rules.isOver(after)) return 0;
      return -player.gamma * Math.max(...rules.legal(after).map((action) => {
        if (depth === 1) return player.values(after)[action];
        return worth(rules.after(after, action), depth - 1);
      }));
    };
    return games.map((moves) => {
      const position = rules.positions(moves).at(-1);
      const values = lookaheadValues(rules, player, position, depth);
      const afters = Array.from(player.values(position), (_, action) => rules.after(position, action));
      return [[...values], afters.map((after) => after && worth(after, depth))];
    });
  },

  // What `checkLines` yields and returns.
  async checkLines({ path, ...options }) {
    const { rules, player } = await playerOf(path);
    const steps = checkLines(rules, player, { ...options, random: randomNumbers() });
    const yielded = [];
    for (;;) {
      const { done, value } = steps.next();
      if (done) return { yielded, result: value };
      yielded.push(structuredClone(value));
    }
  },

  // What the board shows of the position after a game where the time suffices for no exact
  // result, and an agent's proof may say it.
  async provenValues({ path, moves }) {
    const { rules, agent, player } = await playerOf(path);
    const loaded = { key: "one", file: agent };
    const values = new BoardValues(engineOf(rules, player));
    const sides = new Grades({}).provenSides(loaded);
    const findWinner = () => values.provenWinner({ rules, moves, agent: loaded, sides });
    findWinner();
    await arrived();
    const proof = findWinner();
    const position = rules.positions(moves).at(-1);
    const ask = () => values.layers({ rules, position, withExact: true, agents: {}, proof });
    ask();
    await arrived();
    const [exact] = ask();
    const cells = [...(exact?.values ?? [])].map(([action, { text, spoken }]) => {
      return [action, text, spoken];
    });
    const state = values.exactState(rules, position, proof);
    return { state, text: provenText(proof), cells };
  },

  // Why the page refuses each file; null where it does not.
  refusals({ paths }) {
    const reasonOf = (path) => agentOf(path).then(
      () => null,
      (error) => error.message,
    );
    return Promise.all(paths.map(reasonOf));
  },

  // The verdict on each side of an agent, once its file's lost games are checked.
  async verdicts({ path }) {
    const { rules, agent, player } = await playerOf(path);
    const grades = new Grades({ engine: engineOf(rules, player) });
    const loaded = { key: "one", file: agent };
    await grades.checkLosingLines(rules, loaded);
    return ["x", "o"].map((side) => grades.verdictOf(loaded, side));
  },

  // The layers of a network of integers, and in the position after each game what
  // `activationsOf` says of it, and the values of the moves.
  async activations({ path, games, count }) {
    const { rules, agent, player } = await playerOf(path);
    const weights = agent.layers.map((layer) => {
      return Object.fromEntries(Object.entries(layer).map(([name, list]) => [name, [...list]]));
    });
    const positions = games.map((moves) => {
      const position = rules.positions(moves).at(-1);
      const shown = activationsOf(player, position, count);
      const stones = Array.from(position.cells, (stone) => position.sign * stone + 0);
      return { shown, stones, values: [...player.values(position)] };
    });
    return { weights, positions };
  },

  // What is said of a side's moves.
  summary({ judgements, sides, side }) {
    return summary(judgements, sides, side);
  },

  // What the page says of a finished game against an agent, which plays as `agentSide`.
  async finishedGame({ path, agentSide = "x", level = "full", depth = 0, ...options }) {
    const { rules, agent, player } = await playerOf(path);
    const { isOwn = true, begun = [], computed = null, areAllOwn = false } = options;
    const start = rules.positions(begun).at(-1);
    const moves = playedMoves({ rules, player, agentSide, isOwn, start });
    const side = agentSide === "x" ? "o" : "x";
    const game = { moves, side, start: begun.length ? start : rules.start };
    const page = pageOf({ rules, agent, player, level, depth, computed, areAllOwn, ...game });
    await settled(page);
    const { main, more } = statusOf(page);
    const judgements = page.shown.judgements();
    const review = judgements.map((one, ply) => [verdictOf(one, moves[ply]), one.source ?? ""]);
    const { title: opponent } = page.play.opponent;
    const heading = gameText(page, { isLong: true });
    return { main, more, heading, review, opponent, title: titleOf(page) };
  },

  // The status of a game against the agent in training after these moves, and what a screen reader
  // hears.
  async statusInTraining({ path, moves, isBusy }) {
    const { rules, agent, player } = await playerOf(path);
    const page = pageOf({ rules, agent, player, level: "casual", depth: 0, moves, side: "x" });
    page.learn.training = { isBusy, agentId: "one" };
    page.play.opponent.agent = "one";
    const status = statusOf(page);
    return [status.more, spokenStatus(page, status)];
  },

  // The title of the document after each of these moves against an agent.
  async titles({ path, moves, side }) {
    const { rules, agent, player } = await playerOf(path);
    const titles = [];
    for (let count = 0; count <= moves.length; count += 1) {
      const game = { moves: moves.slice(0, count), side, level: "full", depth: 0 };
      titles.push(titleOf(pageOf({ rules, agent, player, ...game })));
    }
    return titles;
  },

  // The sentence on the moves of two agents; `results` are exact values by move.
  comparedMoves({ envId, line, moves, values, results }) {
    const rules = new Rules(envId);
    const sides = moves.map((move, i) => ({ answer: { move, values: { [move]: values[i] } } }));
    const exact = Object.entries(results).map(([move, value]) => [Number(move), { value }]);
    return movesText(rules, rules.positions(line).at(-1), sides, new Map(exact));
  },

  // Which values a Resource shows of a key that gets new versions: before each of them arrives,
  // `learned` more have come.
  async shownValues({ learned }) {
    const resource = new Resource();
    const arrivals = [];
    const load = () => new Promise((end) => arrivals.push(end));
    let version = 0;
    const ask = () => resource.get("one", load, version).value ?? null;
    const shown = [];
    for (const times of learned) {
      for (let i = 0; i < times; i += 1) {
        version += 1;
        ask();
      }
      await arrived();
      arrivals.shift()?.(shown.length);
      await arrived();
      shown.push(ask());
      await arrived();
    }
    return { shown, underWay: arrivals.length };
  },

  // How a Resource tells of a load that fails, and what a call of `load` gets.
  async failedLoads() {
    const resource = new Resource();
    let count = 0;
    const load = async () => {
      count += 1;
      if (count === 3) return "found";
      const error = new Error(count === 1 ? "Another one replaced it." : "It failed.");
      if (count === 1) error.name = "AbortError";
      throw error;
    };
    const told = [];
    const ask = () => {
      const { value = null, error } = resource.get("one", load);
      told.push([value, error?.message ?? null]);
    };
    for (let i = 0; i < 4; i += 1) {
      ask();
      await arrived();
    }
    const loaded = await resource.load("one", load);
    await arrived();
    ask();
    return { told, count, loaded };
  },

  // How often a Resource has begun a load that fails, when it is asked for after these seconds.
  async retries({ seconds }) {
    const resource = new Resource();
    let count = 0;
    const load = async () => {
      count += 1;
      throw new Error("It failed.");
    };
    const { now } = performance;
    const counts = [];
    for (const second of seconds) {
      performance.now = () => 1000 * second;
      resource.get("one", load);
      await new Promise((resolve) => setTimeout(resolve));
      counts.push(count);
    }
    performance.now = now;
    return counts;
  },

  // What a Resource shows where a newer version arrives before the one that was loaded first.
  async overtaken() {
    const resource = new Resource();
    let end = null;
    const old = resource.load("one", () => new Promise((resolve) => (end = resolve)), 1);
    await resource.load("one", async () => "new", 2);
    end("old");
    await old;
    return resource.get("one", null, 2).value;
  },

  // What a Resource that keeps two keys loads, when these keys are asked for.
  async loadedKeys({ keys }) {
    const resource = new Resource({ max: 2 });
    const loaded = [];
    for (const key of keys) await resource.load(key, async () => loaded.push(key));
    return loaded;
  },

  // How many corrections there are for each number of stones.
  async countByStones({ path }) {
    const { rules, agent } = await playerOf(path);
    return Object.fromEntries(countByStones(rules, agent.corrections));
  },
};

const results = [];
for (const [task, options] of JSON.parse(readFileSync(0, "utf-8"))) {
  results.push(await TASKS[task](options));
}
process.stdout.write(JSON.stringify(results));
