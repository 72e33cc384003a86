// The exported tree of the game: positions, moves, results and exact values. The page
// knows the rules from it alone. A position is an index; the first one is 0.

export const START = 0;
const NOT_OVER = 3;
export const SIDES = ["x", "o"];

export function bytes(base64) {
  const text = atob(base64);
  const found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) found[i] = text.charCodeAt(i);
  return found;
}

export function other(side) {
  return side === "x" ? "o" : "x";
}

export class Tree {
  constructor(data) {
    [this.rows, this.columns] = data.shape;
    this.letters = { x: data.letters[0], o: data.letters[1] };
    this.numPositions = data.num_positions;
    this.numActions = data.num_actions;
    this.numCells = this.rows * this.columns;
    this.lines = data.lines;
    this.cells = bytes(data.cells);
    this.first = bytes(data.first_to_move);
    this.results = new Int8Array(bytes(data.result).buffer);
    this.successor = new Uint16Array(bytes(data.successor).buffer);
    this.values = new Int8Array(bytes(data.exact).buffer);
    this.left = bytes(data.moves_left);
    this.complete = new Uint16Array(bytes(data.won_lines).buffer);
    this.orders = data.orders;
    this.order = bytes(data.order);
  }

  // The position after a move, or null where it is illegal.
  after(position, action) {
    if (!(action >= 0 && action < this.numActions)) return null;
    return this.successor[position * this.numActions + action] || null;
  }

  legal(position) {
    const found = [];
    for (let action = 0; action < this.numActions; action += 1) {
      if (this.after(position, action) !== null) found.push(action);
    }
    return found;
  }

  // The legal moves in the order of the canonical board.
  canonical(position) {
    const order = this.orders[this.order[position]];
    return order.filter((action) => this.after(position, action) !== null);
  }

  isOver(position) {
    return this.results[position] !== NOT_OVER;
  }

  // The side to move, or null once the game is over.
  toMove(position) {
    if (this.isOver(position)) return null;
    return this.first[position] ? "x" : "o";
  }

  // "won", "drawn" or "lost" for a side, or null before the end.
  result(position, side) {
    if (!this.isOver(position)) return null;
    return ["lost", "drawn", "won"][this.sign(side) * this.results[position] + 1];
  }

  sign(side) {
    return side === "x" ? 1 : -1;
  }

  // The side whose stone is on a cell, or null.
  stone(position, cell) {
    return [null, "x", "o"][this.cells[position * this.numCells + cell]];
  }

  // The value of a position to a side under best play: -1, 0 or 1.
  value(position, side) {
    return this.sign(side) * this.values[position];
  }

  // The value of a legal move to its mover under best play.
  exact(position, action) {
    return this.value(this.after(position, action), this.toMove(position));
  }

  bestMoves(position) {
    const mover = this.toMove(position);
    return this.legal(position).filter(
      (action) => this.exact(position, action) === this.value(position, mover),
    );
  }

  // Of the best moves, those that win soonest or lose latest.
  perfectMoves(position) {
    const best = this.bestMoves(position);
    const left = best.map((action) => this.left[this.after(position, action)]);
    const wins = best.length > 0 && this.exact(position, best[0]) > 0;
    const wanted = wins ? Math.min(...left) : Math.max(...left);
    return best.filter((_, i) => left[i] === wanted);
  }

  // Moves until the end of a decided game, counted after this move.
  movesLeft(position, action) {
    return this.left[this.after(position, action)];
  }

  wonLines(position) {
    return this.lines.filter((_, bit) => (this.complete[position] >> bit) & 1);
  }

  // The positions of a game, the first one included, or null if a move is illegal.
  walk(moves) {
    const positions = [START];
    for (const action of moves) {
      const after = this.after(positions.at(-1), action);
      if (after === null || after === undefined) return null;
      positions.push(after);
    }
    return positions;
  }

  squareName(cell) {
    return `row ${Math.floor(cell / this.columns) + 1}, column ${(cell % this.columns) + 1}`;
  }
}
