// The rules of the page's games, in all of which stones in a row win. They are the same as
// in games/line_games.py and in PGX's tic-tac-toe and Connect Four; the symmetric views
// are the same as in config/game_facts.py. A position never changes: a move makes another
// one.

import { DATA } from "./page_data.js";

export const SIDES = ["x", "o"];

// The name of each side, in all games. X moves first.
export const LETTERS = { x: "X", o: "O" };

// Which seat a side has: the first player's stones are X.
export const SEATS = { x: "first", o: "second" };

export function other(side) {
  return side === "x" ? "o" : "x";
}

// The steps from a cell to its neighbour in a row: [rows, columns].
const STEPS = [
  [0, 1],
  [1, 0],
  [1, 1],
  [1, -1],
];

// The name of a game on the page: PGX's Connect Four is the same game as connect_7x6.
export function gameOf(envId) {
  return envId === "connect_four" ? "connect_7x6" : envId;
}

// The size of a game's board, how stones are set, and `bestResult`, the result with best play
// of both ("first", "second" or "draw", or null if it is not known); null for an unknown game.
function describeGame(envId) {
  const name = gameOf(envId);
  return Object.hasOwn(DATA.games, name) ? DATA.games[name] : null;
}

function range(length) {
  return Array.from({ length }, (_, i) => i);
}

// The eight views of a square board whose actions are its cells, the identity first.
function squareViews(size) {
  const views = [];
  let board = range(size).map((row) => range(size).map((column) => row * size + column));
  for (let turn = 0; turn < 4; turn += 1) {
    const rows = board;
    const mirrored = range(size).map((column) => rows.map((row) => row[column]));
    for (const view of [board, mirrored]) views.push({ cells: view.flat(), actions: view.flat() });
    board = [...mirrored].reverse();
  }
  return views;
}

// The identity and the mirror image of a board that is played by columns.
function mirroredColumns(rows, columns) {
  const order = range(columns);
  return [order, [...order].reverse()].map((actions) => ({
    cells: range(rows).flatMap((row) => actions.map((column) => row * columns + column)),
    actions,
  }));
}

function inverse(permutation) {
  const places = new Array(permutation.length);
  permutation.forEach((value, place) => (places[value] = place));
  return places;
}

const games = new Map(); // the rules of each game that was asked for, by its name

// The rules of a game, the same object at each call. Throws an Error for a game that the page
// does not know.
export function rulesOf(envId) {
  const name = gameOf(envId);
  if (!games.has(name)) games.set(name, new Rules(name));
  return games.get(name);
}

// A position is { cells, sign, last, row }: `cells` (Int8Array, row by row from the top)
// are 0 where free, 1 for the first player's stones, -1 for the second's. `sign` is the
// stone that is set next, `last` the cell of the latest stone or null, and `row` are the
// cells of the winning rows.
export class Rules {
  // Of the game, see `describeGame`.
  title; rows; columns; inARow; falls; isEnumerable; bestResult;

  // Throws an Error for a game that the page does not know. In an enumerable game, every
  // position can be listed in a moment.
  constructor(envId) {
    const game = describeGame(envId);
    if (game === null) throw new Error(`the page does not know the game ${envId}`);
    Object.assign(this, game);
    this.envId = gameOf(envId);
    this.numCells = this.rows * this.columns;
    this.numActions = this.falls ? this.columns : this.numCells;
    // People count columns from 1 and squares from 0, as `move_name` in
    // config/game_facts.py does.
    this.firstNumber = this.falls ? 1 : 0;
    // Cell `i` of a view is cell `cells[i]` of the board, and action `a` in it is action
    // `actions[a]` on the board, which is action `places[actions[a]]` in the view.
    const views = this.falls ? mirroredColumns(this.rows, this.columns) : squareViews(this.rows);
    this.views = views.map((view) => ({ ...view, places: inverse(view.actions) }));
    // The sets of cells that win, and the sets that each cell is in.
    this.lines = this.allLines();
    this.linesThrough = range(this.numCells).map((cell) =>
      this.lines.filter((line) => line.includes(cell)),
    );
    this.start = { cells: new Int8Array(this.numCells), sign: 1, last: null, row: [] };
  }

  static knows(envId) {
    return describeGame(envId) !== null;
  }

  // The action that sets a stone on a cell, or above it where stones fall.
  actionOf(cell) {
    return this.falls ? cell % this.columns : cell;
  }

  // The cell on which an action sets its stone, or null if the action is not possible.
  cell({ cells }, action) {
    if (!(action >= 0 && action < this.numActions)) return null;
    if (!this.falls) return cells[action] === 0 ? action : null;
    for (let cell = this.numCells - this.columns + action; cell >= 0; cell -= this.columns) {
      if (cells[cell] === 0) return cell;
    }
    return null;
  }

  // The position after a move, or null where it is illegal or the game is over.
  after(position, action) {
    const cell = this.isOver(position) ? null : this.cell(position, action);
    if (cell === null) return null;
    const cells = position.cells.slice();
    cells[cell] = position.sign;
    const row = this.winningCells(cells, this.linesThrough[cell]);
    return { cells, sign: -position.sign, last: cell, row };
  }

  // The legal actions, ascending; none once the game is over.
  legal(position) {
    const actions = [];
    if (this.isOver(position)) return actions;
    for (let action = 0; action < this.numActions; action += 1) {
      // The first row says which columns are full.
      if (position.cells[action] === 0) actions.push(action);
    }
    return actions;
  }

  // The cells of those lines that the stones of one player fill, ascending.
  winningCells(cells, lines = this.lines) {
    const winning = new Set();
    for (const line of lines) {
      const stone = cells[line[0]];
      const isFull = stone !== 0 && line.every((cell) => cells[cell] === stone);
      if (isFull) line.forEach((cell) => winning.add(cell));
    }
    return [...winning].sort((a, b) => a - b);
  }

  // All sets of `inARow` cells in a row.
  allLines() {
    const lines = [];
    for (const cell of range(this.numCells)) {
      const [row, column] = [Math.floor(cell / this.columns), cell % this.columns];
      for (const [down, right] of STEPS) {
        const lastRow = row + (this.inARow - 1) * down;
        const lastColumn = column + (this.inARow - 1) * right;
        const inside = lastRow < this.rows && lastColumn >= 0 && lastColumn < this.columns;
        const step = down * this.columns + right;
        if (inside) lines.push(range(this.inARow).map((n) => cell + n * step));
      }
    }
    return lines;
  }

  isOver({ cells, row }) {
    return row.length > 0 || !cells.includes(0);
  }

  // The side to move, or null once the game is over.
  toMove(position) {
    if (this.isOver(position)) return null;
    return position.sign > 0 ? "x" : "o";
  }

  // "won", "drawn" or "lost" for a side, or null before the end.
  result(position, side) {
    if (!this.isOver(position)) return null;
    if (position.row.length === 0) return "drawn";
    return position.sign < 0 === (side === "x") ? "won" : "lost";
  }

  // The side whose stone is on a cell, or null.
  stone({ cells }, cell) {
    if (cells[cell] === 0) return null;
    return cells[cell] > 0 ? "x" : "o";
  }

  // The positions of a game, `from` included, or null if a move is illegal.
  positions(moves, from = this.start) {
    const positions = [from];
    for (const action of moves) {
      const after = this.after(positions.at(-1), action);
      if (after === null) return null;
      positions.push(after);
    }
    return positions;
  }

  // The position with these stones ("x", "o" or null for each cell): { position }, or
  // { error } with a sentence for people where they do not fit the rules: their numbers, a gap
  // below a stone, or rows that a game would have ended before. The order of the moves is not
  // looked for.
  setUp(stones) {
    if (stones.length !== this.numCells) return { error: "The board has another size." };
    const cells = Int8Array.from(stones, (stone) => ({ x: 1, o: -1 })[stone] ?? 0);
    const lead = cells.reduce((sum, stone) => sum + stone, 0);
    const { x, o } = LETTERS;
    if (lead !== 0 && lead !== 1) {
      return { error: `${x} moves first, so it has as many stones as ${o} or one more.` };
    }
    const hangs = (cell) => cells[cell] !== 0 && cells[cell + this.columns] === 0;
    if (this.falls && range(this.numCells).some(hangs)) {
      return { error: "A stone has a free square below it." };
    }
    const sign = lead === 0 ? 1 : -1;
    const winning = this.winningCells(cells);
    if (winning.some((cell) => cells[cell] === sign)) {
      return { error: "The game ended before the latest stone." };
    }
    if (winning.length > 0 && !winning.some((cell) => this.endedGame(cells, cell))) {
      return { error: "No single stone can have completed these rows." };
    }
    return { position: { cells, sign, last: null, row: winning } };
  }

  // Whether a stone can have been the latest one of a won game: without it, nobody won.
  endedGame(cells, cell) {
    const isCovered = this.falls && cell >= this.columns && cells[cell - this.columns] !== 0;
    if (isCovered) return false;
    const before = cells.slice();
    before[cell] = 0;
    return this.winningCells(before).length === 0;
  }

  // The stones of a position as one word of X, O and -. They also say who is to move.
  key({ cells }) {
    return Array.from(cells, (stone) => "O-X"[stone + 1]).join("");
  }

  // What `setUp` returns for the position of a key.
  fromKey(key) {
    if (!/^[XO-]*$/.test(key)) return { error: "A board has only X, O and -." };
    return this.setUp([...key].map((letter) => ({ X: "x", O: "o" })[letter] ?? null));
  }

  // A position as rows of X, O and -.
  text(position) {
    const key = this.key(position);
    return range(this.rows)
      .map((row) => key.slice(row * this.columns, (row + 1) * this.columns))
      .join("\n");
  }

  // The number by which people read and type an action, on the board, as a key and in links.
  numberOf(action) {
    return action + this.firstNumber;
  }

  actionOfNumber(number) {
    return number - this.firstNumber;
  }

  // An action in words: "square 4" or "column 4".
  actionName(action) {
    return `${this.falls ? "column" : "square"} ${this.numberOf(action)}`;
  }

  // Moves from a position on in words: "X square 4, O square 0".
  lineText(position, actions) {
    const positions = this.positions(actions, position);
    const names = actions.map((action, i) => {
      return `${LETTERS[this.toMove(positions[i])]} ${this.actionName(action)}`;
    });
    return names.join(", ");
  }

  // The canonical board of a position, as in games/stone_boards.py: of all symmetric views
  // the one with the least key, whose highest digit is the last cell. `stones` are 1 for
  // the mover's and -1 for the opponent's, and `cells` those of the position that they are on.
  // `places[action]` is the action there; on a board that is its own image, symmetric actions are
  // the same one.
  canonical({ cells, sign }) {
    let least = [this.views[0]];
    for (const view of this.views.slice(1)) {
      const order = this.compareViews(cells, sign, view.cells, least[0].cells);
      if (order < 0) least = [view];
      else if (order === 0) least.push(view);
    }
    const [view] = least;
    const stones = Int8Array.from(view.cells, (cell) => sign * cells[cell]);
    let { places } = view;
    if (least.length > 1) {
      places = places.map((_, action) => Math.min(...least.map((same) => same.places[action])));
    }
    return { stones, places, cells: view.cells };
  }

  // Negative if `view` has a lower key than `otherView`, 0 if both have the same key.
  compareViews(cells, sign, view, otherView) {
    for (let i = this.numCells - 1; i >= 0; i -= 1) {
      const difference = sign * (cells[view[i]] - cells[otherView[i]]);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
