// Corrections: moves in place of a network's, as in solver/corrections.py, and the
// keys of their boards, as in games/position_keys.py.
//
// A key has a digit for each cell, or for each column where stones fall. The digits are
// packed into two words of 32 bits. The keys of the page's games have at most 53 bits, so
// a number holds them exactly.

const WORD = 32; // bits
export const NO_COLUMNS = "its corrections need as many keys as actions";
const NOT_BOARD = "a key of its corrections is not a board of the game";

// Throw an Error with a reason for people unless something holds.
export function check(holds, reason) {
  if (!holds) throw new Error(reason);
}

// The number of bits of a digit, and what a 1 in each digit is worth.
function packing({ falls, rows, columns, numCells }) {
  const bits = falls ? rows + 1 : 2;
  const perWord = Math.floor(WORD / bits);
  const worths = Array.from(
    { length: falls ? columns : numCells },
    (_, place) => 2 ** (WORD * Math.floor(place / perWord) + bits * (place % perWord)),
  );
  return { bits, worths };
}

// A cell's digit is 2 with a stone of the mover, 1 if free, 0 with a stone of the other
// player. A column's digit has a bit for each stone from below, 1 for the first player's,
// and a 1 above the highest stone.
function digitsOf({ falls, rows, columns }, { cells, sign }) {
  if (!falls) return Array.from(cells, (stone) => 1 + sign * stone);
  return Array.from({ length: columns }, (_, column) => {
    let digit = 1;
    for (let row = 0; row < rows; row += 1) {
      const stone = cells[row * columns + column];
      // The 1 above n stones is 2 ** n: 1, and 1, 2, 4, ... for the stones.
      if (stone !== 0) digit += 2 ** (rows - 1 - row) * (stone > 0 ? 2 : 1);
    }
    return digit;
  });
}

// The key of a position in a symmetric view.
function keyIn({ falls }, { worths }, digits, view) {
  const order = falls ? view.actions : view.cells;
  return worths.reduce((key, worth, place) => key + worth * digits[order[place]], 0);
}

// The position of a key. Throws an Error if no position has it.
function positionOf(rules, key) {
  const { falls, rows, columns, numCells } = rules;
  const { bits, worths } = packing(rules);
  const digits = worths.map((worth) => Math.floor(key / worth) % 2 ** bits);
  const cells = new Int8Array(numCells);
  if (falls) {
    digits.forEach((digit, column) => {
      const height = WORD - 1 - Math.clz32(digit); // the place of the highest 1
      for (let stone = 0; stone < height; stone += 1) {
        cells[(rows - 1 - stone) * columns + column] = (digit >> stone) & 1 ? 1 : -1;
      }
    });
  } else {
    const mover = digits.filter((digit) => digit !== 1).length % 2 === 0 ? 1 : -1;
    digits.forEach((digit, cell) => (cells[cell] = mover * (digit - 1)));
  }
  const lead = cells.reduce((sum, stone) => sum + stone, 0);
  const position = { cells, sign: lead === 0 ? 1 : -1, last: null, row: [] };
  const digitsAgain = digitsOf(rules, position);
  const isSame = keyIn(rules, { worths }, digitsAgain, rules.views[0]) === key;
  check(isSame, NOT_BOARD);
  check(lead === 0 || lead === 1, "a board of its corrections can't be reached");
  return { ...position, row: rules.winningCells(cells) };
}

// The corrections of a file, a Map from keys to actions. `keys` are BigInts. Throws an Error
// unless they ascend and stand for boards on which the game goes on, with legal moves.
export function readCorrections(rules, keys, actions) {
  check(keys.length === actions.length, NO_COLUMNS);
  const doAscend = keys.every((key, i) => i === 0 || key > keys[i - 1]);
  check(doAscend, "the keys of its corrections do not ascend");
  const corrections = new Map();
  for (const [i, key] of keys.entries()) {
    check(key <= Number.MAX_SAFE_INTEGER, NOT_BOARD); // the larger ones are no numbers
    const position = positionOf(rules, Number(key));
    const isLegal = rules.after(position, actions[i]) !== null;
    check(isLegal, "a move of its corrections is not legal");
    corrections.set(Number(key), actions[i]);
  }
  return corrections;
}

// How many of the corrections are of boards with each number of stones: a Map, ascending.
export function countByStones(rules, corrections) {
  const counts = new Map();
  for (const key of corrections.keys()) {
    const { cells } = positionOf(rules, key);
    const stones = cells.reduce((sum, stone) => sum + Math.abs(stone), 0);
    counts.set(stones, (counts.get(stones) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => a - b));
}

// A function from a position to the move that its correction is, or null without one. Where
// the agent plays mirrored moves on mirror images (`isSymmetric`), a correction holds for all
// images of its board: its key is the least one, and its action is the one on that image.
export function correctionFinder(rules, corrections, isSymmetric) {
  const game = packing(rules);
  const views = isSymmetric ? rules.views : rules.views.slice(0, 1);
  return (position) => {
    const digits = digitsOf(rules, position);
    const keys = views.map((view) => keyIn(rules, game, digits, view));
    const least = Math.min(...keys);
    const action = corrections.get(least);
    return action === undefined ? null : views[keys.indexOf(least)].actions[action];
  };
}
