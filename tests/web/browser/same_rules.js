// What the page computes in the cases of tests/rule_cases.py. Each check returns how many
// comparisons it made, and those that differ.

import { Rules, SEATS, SIDES, gameOf } from "./engine/rules.js";
import { readAgent } from "./files/agent_file.js";
import { makePlayer } from "./engine/players.js";
import { gradeOf, lookaheadValues } from "./engine/search.js";
import { decideAtOnce, solve } from "./engine/solver.js";
import { sha256, sha256ByHand } from "./files/sha256.js";
import { Engine } from "./state/engine.js";
import { chooseHint } from "./state/board_values.js";
import { provenFrom, ratesOf, sourceOfRates } from "./state/grades.js";

const TOLERANCE = 1e-5;

class Comparison {
  constructor() {
    this.compared = 0;
    this.different = [];
  }

  equal(name, own, python) {
    this.compared += 1;
    const texts = [JSON.stringify(own), JSON.stringify(python)];
    if (texts[0] !== texts[1]) this.different.push([name, ...texts].join(" | "));
  }

  // Numbers, with null where there is none.
  close(name, own, python) {
    this.compared += 1;
    const isClose = (number, i) => {
      const other = python[i];
      return other === null ? !Number.isFinite(number) : Math.abs(number - other) < TOLERANCE;
    };
    const same = own.length === python.length && [...own].every(isClose);
    if (!same) this.different.push([name, [...own].join(" "), python.join(" ")].join(" | "));
  }
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
}

function position(rules, cells) {
  return rules.setUp(cells.map((stone) => ({ 1: "x", "-1": "o" })[stone] ?? null)).position;
}

async function playerOf(cases, { env_id: envId, file }) {
  const rules = new Rules(envId);
  const rows = JSON.parse(cases.tree).cells;
  return { rules, player: makePlayer(rules, await readAgent(bytesOf(file)), rows) };
}

export const checks = {
  games({ games }) {
    const all = new Comparison();
    for (const game of games) {
      const { env_id: envId, moves, legal, cells, results, row, canonical, places } = game;
      const rules = new Rules(envId);
      all.equal(`${envId} name`, [rules.envId, gameOf(envId)], [game.name, game.name]);
      all.equal(`${envId} enumerable`, rules.isEnumerable, game.is_enumerable);
      const positions = rules.positions(moves);
      positions.forEach((one, n) => {
        const name = `${envId} ${moves.slice(0, n)}`;
        all.equal(`${name} legal`, rules.legal(one), legal[n]);
        all.equal(`${name} cells`, [...one.cells], cells[n]);
        const ends = [rules.result(one, "x"), rules.result(one, "o")];
        all.equal(`${name} results`, ends, n === moves.length ? results : [null, null]);
        all.equal(`${name} row`, one.row, n === moves.length ? row : []);
        const seen = rules.canonical(one);
        all.equal(`${name} canonical`, [...seen.stones], canonical[n]);
        all.equal(`${name} places`, seen.places, places[n]);
        const setUp = rules.fromKey(rules.key(one)).position;
        all.equal(`${name} set up`, { ...setUp, last: null }, { ...one, last: null });
      });
      const illegal = rules.positions([...moves, 0]);
      all.equal(`${envId} ${moves} illegal`, illegal, null);
    }
    return all;
  },

  bestResults({ best_results: results }) {
    const all = new Comparison();
    for (const [envId, result] of Object.entries(results)) {
      all.equal(`${envId} best result`, new Rules(envId).bestResult, result);
    }
    return all;
  },

  impossible({ impossible }) {
    const all = new Comparison();
    for (const [envId, key, reason] of impossible) {
      const { error } = new Rules(envId).fromKey(key);
      all.equal(`${envId} ${key}`, error?.includes(reason) ? reason : error, reason);
    }
    return all;
  },

  async agents(cases) {
    const all = new Comparison();
    for (const one of cases.agents) {
      const { rules, player } = await playerOf(cases, one);
      all.equal(`${one.name} game`, player.agent.envId, gameOf(one.env_id));
      all.equal(`${one.name} updates`, player.agent.updates, one.updates);
      one.positions.forEach((moves, n) => {
        const name = `${one.name} ${moves}`;
        const here = rules.positions(moves).at(-1);
        all.close(`${name} values`, player.values(here), one.values[n]);
        if (one.moves[n] !== null) all.equal(`${name} move`, player.move(here), one.moves[n]);
        if (!one.searched) return;
        const searched = lookaheadValues(rules, player, here, one.depth);
        all.close(`${name} searched`, searched, one.searched[n]);
      });
    }
    return all;
  },

  // The integers of a network in many positions with the first player to move.
  async integers(cases) {
    const all = new Comparison();
    const { env_id: envId, file } = cases;
    const rules = new Rules(envId);
    const player = makePlayer(rules, await readAgent(bytesOf(file)));
    const [stones, python] = [bytesOf(cases.cells), new Int32Array(bytesOf(cases.scores))];
    for (let board = 0; board < stones.byteLength / rules.numCells; board += 1) {
      const cells = new Int8Array(stones, board * rules.numCells, rules.numCells);
      const scores = player.scores({ cells, sign: 1, last: null, row: [] });
      all.compared += 1;
      const begin = board * rules.numActions;
      const isSame = scores.every((score, action) => score === python[begin + action]);
      if (!isSame) all.different.push(`${cells}: ${scores}`);
    }
    return all;
  },

  async grades(cases) {
    const all = new Comparison();
    for (const { name, seats } of cases.grades) {
      const agent = cases.agents.find((one) => one.name === name);
      const { rules, player } = await playerOf(cases, agent);
      const steps = gradeOf(rules, player);
      let step = steps.next();
      while (!step.done) step = steps.next();
      all.equal(`${name} seats`, Object.keys(step.value), Object.keys(seats));
      for (const [seat, python] of Object.entries(seats)) {
        const own = step.value[seat];
        all.equal(`${name} lines`, own.lines, python.lines);
        all.equal(`${name} unbeatable`, own.unbeatable, python.unbeatable);
        all.equal(`${name} proven`, own.proven, python.proven);
        all.equal(`${name} corrections`, own.num_corrections, python.num_corrections);
        all.equal(`${name} losing line`, own.losing_line?.length ?? null, python.losing_moves);
        all.close(`${name} rates`, [own.win_rate, own.draw_rate, own.loss_rate], python.rates);
        if (python.num_positions !== null) {
          all.equal(`${name} positions`, own.num_positions, python.num_positions);
        }
        const optimal = python.optimal_move_rate;
        all.close(`${name} optimal`, [own.optimal_move_rate ?? NaN], [optimal]);
        if (!own.losing_line) continue;
        const end = rules.positions(own.losing_line).at(-1);
        all.equal(`${name} lost`, rules.result(end, seat === "first" ? "x" : "o"), "lost");
      }
    }
    return all;
  },

  exact({ exact }) {
    const all = new Comparison();
    for (const { env_id: envId, cells, actions } of exact) {
      const rules = new Rules(envId);
      const here = position(rules, cells);
      const name = `${envId} ${rules.key(here)}`;
      const own = solve(rules, here);
      const python = Object.entries(actions).map(([action, [value, moves]]) => {
        return { action: Number(action), value, moves };
      });
      all.equal(`${name} actions`, own.actions, python);
      const isAtOnce = ({ value, moves }) => moves === 1 || (value < 0 && moves === 2);
      all.equal(`${name} at once`, decideAtOnce(rules, here), python.filter(isAtOnce));
      const value = Math.max(...python.map((one) => one.value));
      const best = python.filter((one) => one.value === value);
      const lasting = best.map((one) => one.moves);
      const moves = value > 0 ? Math.min(...lasting) : Math.max(...lasting);
      const perfect = best.filter((one) => one.moves === moves).map((one) => one.action);
      all.equal(`${name} best`, [own.value, own.moves, own.best], [value, moves, perfect]);
    }
    return all;
  },

  reviews({ reviews }) {
    const all = new Comparison();
    const rules = new Rules("tic_tac_toe");
    for (const { moves, reviewed } of reviews) {
      const positions = rules.positions(moves);
      reviewed.forEach((python, ply) => {
        const exact = solve(rules, positions[ply]);
        const own = exact.actions.find(({ action }) => action === moves[ply]);
        const keeping = exact.actions.filter(({ value }) => value === exact.value);
        const judged = [exact.value, own.value, keeping.map(({ action }) => action)];
        all.equal(`${moves} ${ply}`, judged, python);
      });
    }
    return all;
  },

  async hints(cases) {
    const all = new Comparison();
    for (const one of cases.hints) {
      const { player, rules } = one.file
        ? await playerOf(cases, one)
        : { player: null, rules: new Rules(one.env_id) };
      const here = rules.positions(one.moves).at(-1);
      const learned = player && { values: player.values(here), isTable: player.isTable };
      const { action, asGood } = chooseHint(solve(rules, here), learned);
      const name = `${player?.agent.kind} ${one.moves}`;
      all.equal(name, [action, asGood], [one.action, one.as_good]);
    }
    return all;
  },

  histories({ histories }) {
    const all = new Comparison();
    histories.forEach(({ rows, proven_from, source, rates }, n) => {
      all.equal(`${n} proven from`, provenFrom(rows), proven_from);
      all.equal(`${n} source`, sourceOfRates(rows), source);
      rows.forEach(({ grade }, i) => {
        for (const side of SIDES) {
          const own = ratesOf(grade, side);
          const numbers = own && [own.win_rate, own.draw_rate, own.loss_rate, Number(own.isExact)];
          all.equal(`${n} ${i} ${side}`, numbers, rates[i][SEATS[side]] ?? null);
        }
      });
    });
    return all;
  },

  // By the browser, and where it has no digests.
  async digests({ digests }) {
    const all = new Comparison();
    for (const [size, digest] of digests.entries()) {
      const bytes = Uint8Array.from({ length: size }, (_, i) => (size * i) % 256);
      all.equal(`SHA-256 of ${size} bytes`, await sha256(bytes), digest);
      const byHand = new DataView(sha256ByHand(bytes));
      const words = Array.from({ length: 8 }, (_, i) => byHand.getUint32(4 * i));
      const text = words.map((word) => word.toString(16).padStart(8, "0")).join("");
      all.equal(`SHA-256 of ${size} bytes by hand`, text, digest);
    }
    return all;
  },

  async refused({ refused }) {
    const all = new Comparison();
    for (const { name, file, reason } of refused) {
      let message = null;
      try {
        await readAgent(bytesOf(file));
      } catch (error) {
        ({ message } = error);
      }
      all.equal(name, message?.includes(reason) ? reason : message, reason);
    }
    return all;
  },

  // The same through the workers, under the page's policy.
  async engine(cases) {
    const all = new Comparison();
    const engine = new Engine({
      tree: async () => JSON.parse(cases.tree),
      worker: "/static/worker.js",
    });
    const loadAgent = async (name) => {
      const one = cases.agents.find((agent) => agent.name === name);
      return { one, agent: { key: name, file: await readAgent(bytesOf(one.file)) } };
    };
    const [network, table] = [await loadAgent("network"), await loadAgent("table")];
    const rules = new Rules("tic_tac_toe");
    const { envId } = rules;
    const start = rules.start;
    for (const { one, agent } of [network, table, network]) {
      const answer = await engine.values({ envId, agent, position: start });
      all.close(`${one.name} values`, answer.values, one.values[0]);
      all.equal(`${one.name} move`, answer.move, one.moves[0]);
    }
    const solved = await engine.exact({ envId, position: start });
    all.equal("exact", solved, solve(rules, start));
    const big = new Rules("connect_7x6");
    const hard = { envId: big.envId, position: big.start, seconds: 0.1 };
    all.equal("not in time", await engine.exact(hard), null);
    const running = engine.exact(hard);
    const replaced = engine.exact({ ...hard, latest: true });
    const latest = engine.exact({ envId, position: start, latest: true });
    all.equal("replaced", await replaced.catch((error) => error.name), "AbortError");
    all.equal("running", await running, null);
    all.equal("latest", (await latest).value, 0);
    let seen = 0;
    const onProgress = ({ positions }) => (seen = positions);
    const grade = await engine.grade({ envId, agent: table.agent, onProgress });
    all.equal("progress", seen > 0, true);
    all.equal("lines", grade.first.lines, cases.grades[1].seats.first.lines);
    // More agents than a worker has at once; the first one is posted again.
    for (const number of [0, 1, 2, 3, 4, 5, 6, 7, 0, 7, 1]) {
      const agent = { ...network.agent, key: `network ${number}` };
      const answer = await engine.values({ envId, agent, position: start });
      all.equal(`network ${number} move`, answer.move, network.one.moves[0]);
    }
    const { sent } = engine.clients.values;
    const lastUsed = [4, 5, 6, 0, 7, 1].map((number) => `network ${number}`);
    all.equal("agents of a worker", [...sent], lastUsed);
    sent.add("network 2"); // as if the worker still had it
    const forgotten = { key: "network 2", file: network.agent.file };
    const call = engine.values({ envId, agent: forgotten, position: start });
    all.equal("forgotten", await call.catch((error) => error.name), "Error");
    const other = { key: "other", file: { ...network.agent.file, envId: big.envId } };
    for (let call = 0; call < 2; call += 1) {
      const answer = engine.values({ envId, agent: other, position: start });
      const reason = await answer.catch((error) => error.message);
      all.equal("another game", reason, "the agent plays connect_7x6, not tic_tac_toe");
    }
    const stop = () => engine.stopGrade();
    const stopped = engine.grade({ envId, agent: table.agent, onProgress: stop });
    all.equal("stopped", await stopped.catch((error) => error.message), "the check was stopped");
    return all;
  },
};
