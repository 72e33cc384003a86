// The rules of Connect Four: stones fall in columns, and `in_a_row` of them win. They are
// those of games/line_games.py. A position never changes: a move makes another one.

// The steps from a cell to its neighbour in a row: [rows, columns].
const STEPS = [
  [0, 1],
  [1, 0],
  [1, 1],
  [1, -1],
];

// The cell of the mirror image.
export function mirrored(cell, columns) {
  const column = cell % columns;
  return cell - column + (columns - 1 - column);
}

// Negative if the mirror image is the canonical board, 0 if it is the board itself, as in
// games/canonical.py. The mover's stones (1) and the opponent's (-1) are digits of a key,
// that of the last cell first; the canonical board has the least key.
export function comparedToImage({ cells, sign }, columns) {
  for (let cell = cells.length - 1; cell >= 0; cell -= 1) {
    const difference = sign * (cells[mirrored(cell, columns)] - cells[cell]);
    if (difference !== 0) return difference;
  }
  return 0;
}

export class LineGame {
  constructor({ rows, columns, in_a_row: inARow }) {
    Object.assign(this, { rows, columns, inARow });
    this.numCells = rows * columns;
    // Row by row from the top: 0 free, 1 first player's stone, -1 second's. `sign` is the
    // stone that is set next, `last` the cell of the latest one, `row` the winner's cells.
    const cells = new Int8Array(this.numCells);
    this.start = { cells, sign: 1, last: null, row: [] };
  }

  // The cell in which a stone of a column comes to lie, or null if it is full.
  cell({ cells }, column) {
    if (!(column >= 0 && column < this.columns)) return null;
    for (let cell = this.numCells - this.columns + column; cell >= 0; cell -= this.columns) {
      if (cells[cell] === 0) return cell;
    }
    return null;
  }

  // The position after a move, or null where it is illegal.
  after(position, column) {
    const cell = this.isOver(position) ? null : this.cell(position, column);
    if (cell === null) return null;
    const cells = position.cells.slice();
    cells[cell] = position.sign;
    return { cells, sign: -position.sign, last: cell, row: this.rowThrough(cells, cell) };
  }

  // The columns in which a stone may be set, none once the game is over.
  legal(position) {
    const found = [];
    if (this.isOver(position)) return found;
    for (let column = 0; column < this.columns; column += 1) {
      if (position.cells[column] === 0) found.push(column);
    }
    return found;
  }

  // The cells of all winning rows through a cell; none if there is no such row.
  rowThrough(cells, cell) {
    const found = new Set();
    const [row, column] = [Math.floor(cell / this.columns), cell % this.columns];
    const isOwn = (y, x) =>
      y >= 0 && y < this.rows && x >= 0 && x < this.columns &&
      cells[y * this.columns + x] === cells[cell];
    for (const [down, right] of STEPS) {
      const line = [cell];
      for (const way of [-1, 1]) {
        for (let n = way; isOwn(row + n * down, column + n * right); n += way) {
          line.push(cell + n * (down * this.columns + right));
        }
      }
      if (line.length >= this.inARow) line.forEach((one) => found.add(one));
    }
    return [...found].sort((a, b) => a - b);
  }

  isOver({ cells, row }) {
    return row.length > 0 || !cells.subarray(0, this.columns).includes(0);
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
    return (position.sign < 0) === (side === "x") ? "won" : "lost";
  }

  // The side whose stone is on a cell, or null.
  stone({ cells }, cell) {
    return { 1: "x", "-1": "o" }[cells[cell]] ?? null;
  }
}
