// Win, draw or loss with best play in Connect Four, without the number of moves to the end:
// the search of solver/connect_four_solver.py. A question is whether the player to move
// reaches a threshold: 1 (it wins) or 0 (it does not lose). All questions share one table.
//
// A set of cells is two words, low and high. A column has a bit for each cell, from the bottom,
// and a free bit above them, which keeps lines from running into the next column. A position
// is the mover's stones (`own`) and all stones (`mask`).

const SLOTS = 2 ** 22; // of the table, 8 bytes each
const NODES_PER_LOOK = 1024; // positions between two looks at the clock
const NO = 0;
const YES = 1;
const UNKNOWN = 2;
const RESULT_BITS = 4; // of an entry of the table
const NOTHING_KNOWN = 0b0010; // an entry's least and greatest value, plus 1

// What is thrown when the time does not suffice.
export const TIME_OVER = new Error("the time is over");

function countBits(word) {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export class ResultSolver {
  rows; columns; numCells; cellsLow; cellsHigh; upperLow; upperHigh; bottomLow; bottomHigh;

  // `rules` are those of a game whose stones fall.
  constructor({ rows, columns, numCells }) {
    Object.assign(this, { rows, columns, numCells });
    this.step = rows + 1; // bits from a cell to its right neighbour
    this.perWord = Math.floor(31 / this.step); // columns in the low word
    this.width = this.perWord * this.step; // bits of the low word
    const all = Array.from({ length: numCells }, (_, cell) => cell);
    const isUpper = (cell) => Math.floor(cell / columns) % 2 === 0;
    [this.cellsLow, this.cellsHigh] = this.words(all);
    // The highest cell of each column, and each second cell below it.
    [this.upperLow, this.upperHigh] = this.words(all.filter(isUpper));
    [this.bottomLow, this.bottomHigh] = this.words(all.slice(-columns));
    // The columns, from the centre on.
    const byColumn = Array.from({ length: columns }, (_, column) => column).sort(
      (a, b) => Math.abs(2 * a - columns + 1) - Math.abs(2 * b - columns + 1),
    );
    const masks = byColumn.map((column) => this.words(all.filter((c) => c % columns === column)));
    this.columnsLow = Int32Array.from(masks, ([low]) => low);
    this.columnsHigh = Int32Array.from(masks, ([, high]) => high);
    this.table = new Int32Array(2 * SLOTS); // the low word; the high one with the result
    // The position that `follow` reached: own, mask, and threats, each low and high, and the
    // number of free cells.
    this.here = new Int32Array(7);
    // Positions that wait for their search, at each number of free cells: as `here`, and a
    // score in front of each.
    this.waiting = new Int32Array((numCells + 1) * columns * 8);
    this.nodes = 0;
    this.deadline = Infinity;
  }

  // A set of cells as two words.
  words(cells) {
    let [low, high] = [0, 0];
    for (const cell of cells) {
      const column = cell % this.columns;
      const height = this.rows - 1 - Math.floor(cell / this.columns);
      if (column < this.perWord) low |= 1 << (column * this.step + height);
      else high |= 1 << ((column - this.perWord) * this.step + height);
    }
    return [low, high];
  }

  // The result of a position to its mover: -1, 0 or 1. Nobody has won on it, and the game goes
  // on. Throws TIME_OVER.
  result(position, deadline) {
    this.deadline = deadline;
    const { cells, sign } = position;
    const stones = Array.from(cells.keys()).filter((cell) => cells[cell] !== 0);
    const [maskLow, maskHigh] = this.words(stones);
    const [ownLow, ownHigh] = this.words(stones.filter((cell) => cells[cell] === sign));
    const playableLow = (maskLow + this.bottomLow) & this.cellsLow;
    const playableHigh = (maskHigh + this.bottomHigh) & this.cellsHigh;
    const ownWinsLow = this.winsLow(ownLow, ownHigh) & playableLow;
    const ownWinsHigh = this.winsHigh(ownLow, ownHigh) & playableHigh;
    if ((ownWinsLow | ownWinsHigh) !== 0) return 1;
    const [otherLow, otherHigh] = [ownLow ^ maskLow, ownHigh ^ maskHigh];
    const threatsLow = this.winsLow(otherLow, otherHigh) & this.cellsLow & ~maskLow;
    const threatsHigh = this.winsHigh(otherLow, otherHigh) & this.cellsHigh & ~maskHigh;
    const free = this.numCells - stones.length;
    if (this.asks(ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, 0, free) === NO) {
      return -1;
    }
    const wins = this.asks(
      ...[ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, 1, free],
    );
    return wins === YES ? 1 : 0;
  }

  // The answer to a question about a position in which the mover does not win at once.
  asks(ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, threshold, free) {
    this.follow(ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, free);
    const [oL, oH, mL, mH, tL, tH, left] = this.here;
    const isOwnTurn = (free - left) % 2 === 0;
    const asked = isOwnTurn ? threshold : 1 - threshold;
    let answer = this.answer(oL, oH, mL, mH, tL, tH, asked, left);
    if (answer === UNKNOWN) answer = this.search(oL, oH, mL, mH, tL, tH, asked, left);
    return isOwnTurn ? answer : 1 - answer;
  }

  // Whether the stones have four in a row.
  hasFour(low, high) {
    const { step, width } = this;
    for (let i = 0; i < 4; i += 1) {
      const by = i === 0 ? 1 : step + i - 2;
      const pairsHigh = high & (high >>> by);
      const pairsLow = low & ((low >>> by) | (high << (width - by)));
      if ((pairsHigh & (pairsHigh >>> (2 * by))) !== 0) return true;
      if ((pairsLow & ((pairsLow >>> (2 * by)) | (pairsHigh << (width - 2 * by)))) !== 0) {
        return true;
      }
    }
    return false;
  }

  // The cells that complete four in a row, in the low word; some bits are not of free cells.
  winsLow(low, high) {
    const { step, width } = this;
    let wins = (low << 1) & (low << 2) & (low << 3);
    for (let by = step - 1; by <= step + 1; by += 1) {
      const left = low << by;
      const left2 = low << (2 * by);
      const right = (low >>> by) | (high << (width - by));
      const right2 = (low >>> (2 * by)) | (high << (width - 2 * by));
      const right3 = (low >>> (3 * by)) | (high << (width - 3 * by));
      wins |= (left & left2 & ((low << (3 * by)) | right)) | (right & right2 & (left | right3));
    }
    return wins;
  }

  // The same in the high word.
  winsHigh(low, high) {
    const { step, width } = this;
    let wins = (high << 1) & (high << 2) & (high << 3);
    for (let by = step - 1; by <= step + 1; by += 1) {
      const right = high >>> by;
      const right2 = high >>> (2 * by);
      const left = (high << by) | (low >>> (width - by));
      const left2 = (high << (2 * by)) | (low >>> (width - 2 * by));
      const left3 = (high << (3 * by)) | (low >>> (width - 3 * by));
      wins |= (left & left2 & (left3 | right)) | (right & right2 & (left | (high >>> (3 * by))));
    }
    return wins;
  }

  // Whether each line in `reach` contains both cells, a and b.
  pairHolds(low, high, aLow, aHigh, bLow, bHigh) {
    return !this.hasFour(low ^ aLow, high ^ aHigh) && !this.hasFour(low ^ bLow, high ^ bHigh);
  }

  // Whether paired replies keep the player to move from winning, where the number of free cells
  // is even: see `_replies_hold` in solver/connect_four_solver.py, which has the proof.
  repliesHold(ownLow, ownHigh, maskLow, maskHigh, playableLow, playableHigh) {
    let restLow = playableLow & this.upperLow;
    let restHigh = playableHigh & this.upperHigh;
    const low = ownLow | (this.cellsLow & ~maskLow & ~(this.upperLow & ~restLow));
    const high = ownHigh | (this.cellsHigh & ~maskHigh & ~(this.upperHigh & ~restHigh));
    if (!this.hasFour(low, high)) return true;
    if ((restLow | restHigh) === 0 || this.hasFour(low & ~restLow, high & ~restHigh)) return false;
    // The lowest free cells of odd columns, of which there are 2, 4 or 6.
    const aLow = restLow & -restLow;
    const aHigh = aLow === 0 ? restHigh & -restHigh : 0;
    restLow ^= aLow;
    restHigh ^= aHigh;
    const bLow = restLow & -restLow;
    const bHigh = bLow === 0 ? restHigh & -restHigh : 0;
    restLow ^= bLow;
    restHigh ^= bHigh;
    if ((restLow | restHigh) === 0) return this.pairHolds(low, high, aLow, aHigh, bLow, bHigh);
    const cLow = restLow & -restLow;
    const cHigh = cLow === 0 ? restHigh & -restHigh : 0;
    const dLow = restLow ^ cLow;
    const dHigh = restHigh ^ cHigh;
    if (((dLow & (dLow - 1)) | (dHigh & (dHigh - 1))) !== 0 || (dLow !== 0 && dHigh !== 0)) {
      return false; // six columns are rare, and their 15 pairings are left out
    }
    return (
      (this.pairHolds(low ^ aLow, high ^ aHigh, cLow, cHigh, dLow, dHigh) &&
        this.pairHolds(low ^ bLow, high ^ bHigh, cLow, cHigh, dLow, dHigh)) ||
      (this.pairHolds(low ^ aLow, high ^ aHigh, bLow, bHigh, dLow, dHigh) &&
        this.pairHolds(low ^ cLow, high ^ cHigh, bLow, bHigh, dLow, dHigh)) ||
      (this.pairHolds(low ^ aLow, high ^ aHigh, bLow, bHigh, cLow, cHigh) &&
        this.pairHolds(low ^ dLow, high ^ dHigh, bLow, bHigh, cLow, cHigh))
    );
  }

  // Go on while only one move does not lose at once, and leave the position in `here`. The mover
  // can't win at once; `threats` are the winning cells of its opponent.
  follow(ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, free) {
    const { bottomLow, bottomHigh, cellsLow, cellsHigh, here } = this;
    for (;;) {
      const playableLow = (maskLow + bottomLow) & cellsLow;
      const playableHigh = (maskHigh + bottomHigh) & cellsHigh;
      const forcedLow = playableLow & threatsLow;
      const forcedHigh = playableHigh & threatsHigh;
      const isForced = (forcedLow | forcedHigh) !== 0;
      const movesLow = (isForced ? forcedLow : playableLow) & ~(threatsLow >>> 1);
      const movesHigh = (isForced ? forcedHigh : playableHigh) & ~(threatsHigh >>> 1);
      const areMany = (movesLow & (movesLow - 1)) | (movesHigh & (movesHigh - 1));
      const areForced = (forcedLow & (forcedLow - 1)) | (forcedHigh & (forcedHigh - 1));
      if (
        (areMany | areForced) !== 0 ||
        (movesLow !== 0) === (movesHigh !== 0) || // none, or one in each word
        (forcedLow !== 0 && forcedHigh !== 0)
      ) {
        here[0] = ownLow;
        here[1] = ownHigh;
        here[2] = maskLow;
        here[3] = maskHigh;
        here[4] = threatsLow;
        here[5] = threatsHigh;
        here[6] = free;
        return;
      }
      const nextLow = ownLow | movesLow;
      const nextHigh = ownHigh | movesHigh;
      ownLow ^= maskLow;
      ownHigh ^= maskHigh;
      maskLow |= movesLow;
      maskHigh |= movesHigh;
      threatsLow = this.winsLow(nextLow, nextHigh) & cellsLow & ~maskLow;
      threatsHigh = this.winsHigh(nextLow, nextHigh) & cellsHigh & ~maskHigh;
      free -= 1;
    }
  }

  // The answer to a question about a position of `follow`, as far as it is known without
  // a search.
  answer(ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, threshold, free) {
    const { cellsLow, cellsHigh } = this;
    const playableLow = (maskLow + this.bottomLow) & cellsLow;
    const playableHigh = (maskHigh + this.bottomHigh) & cellsHigh;
    if (((playableLow & threatsLow) | (playableHigh & threatsHigh)) !== 0) return NO;
    const movesLow = playableLow & ~(threatsLow >>> 1);
    const movesHigh = playableHigh & ~(threatsHigh >>> 1);
    if (free > 0 && (movesLow | movesHigh) === 0) return NO;
    if (free <= 2) return threshold <= 0 ? YES : NO;
    const keyLow = ownLow | (maskLow + this.bottomLow);
    const keyHigh = ownHigh | (maskHigh + this.bottomHigh);
    const place = this.place(keyLow, keyHigh);
    const entry = this.table[place + 1];
    if (this.table[place] === keyLow && entry >>> RESULT_BITS === keyHigh) {
      if (((entry >>> 2) & 3) > threshold) return YES;
      if ((entry & 3) <= threshold) return NO;
    }
    if (threshold === 1) {
      if (free % 2 === 0) {
        if (this.repliesHold(ownLow, ownHigh, maskLow, maskHigh, playableLow, playableHigh)) {
          return NO;
        }
      } else if (!this.hasFour(ownLow | (cellsLow & ~maskLow), ownHigh | (cellsHigh & ~maskHigh))) {
        return NO;
      }
    } else if (!this.hasFour(cellsLow & ~ownLow, cellsHigh & ~ownHigh)) return YES;
    return UNKNOWN;
  }

  // The first word of a position's entry in the table.
  place(keyLow, keyHigh) {
    const mixed = Math.imul(keyLow ^ Math.imul(keyHigh, 0x9e3779b1), 0x85ebca6b);
    return 2 * ((mixed ^ (mixed >>> 15)) & (SLOTS - 1));
  }

  store(ownLow, ownHigh, maskLow, maskHigh, threshold, isReached) {
    const { table } = this;
    const keyLow = ownLow | (maskLow + this.bottomLow);
    const keyHigh = ownHigh | (maskHigh + this.bottomHigh);
    const place = this.place(keyLow, keyHigh);
    const isHere = table[place] === keyLow && table[place + 1] >>> RESULT_BITS === keyHigh;
    const known = isHere ? table[place + 1] & 0b1111 : NOTHING_KNOWN;
    const least = isReached ? Math.max(known >>> 2, threshold + 1) : known >>> 2;
    const greatest = isReached ? known & 3 : Math.min(known & 3, threshold);
    table[place] = keyLow;
    table[place + 1] = (keyHigh << RESULT_BITS) | (least << 2) | greatest;
  }

  // The answer to a question that `answer` does not know.
  search(ownLow, ownHigh, maskLow, maskHigh, threatsLow, threatsHigh, threshold, free) {
    this.nodes += 1;
    if (this.nodes % NODES_PER_LOOK === 0 && Date.now() > this.deadline) throw TIME_OVER;
    const { cellsLow, cellsHigh, upperLow, upperHigh, columns, here, waiting } = this;
    const movesLow = (maskLow + this.bottomLow) & cellsLow & ~(threatsLow >>> 1);
    const movesHigh = (maskHigh + this.bottomHigh) & cellsHigh & ~(threatsHigh >>> 1);
    // The player who replies gets most of the upper cells: see `repliesHold`.
    const isEven = free % 2 === 0;
    const strongLow = isEven ? cellsLow & ~upperLow : upperLow;
    const strongHigh = isEven ? cellsHigh & ~upperHigh : upperHigh;
    const begin = free * columns * 8;
    let end = begin;
    for (let column = 0; column < columns; column += 1) {
      const moveLow = movesLow & this.columnsLow[column];
      const moveHigh = movesHigh & this.columnsHigh[column];
      if ((moveLow | moveHigh) === 0) continue;
      const stonesLow = maskLow | moveLow;
      const stonesHigh = maskHigh | moveHigh;
      const withLow = ownLow | moveLow;
      const withHigh = ownHigh | moveHigh;
      const madeLow = this.winsLow(withLow, withHigh) & cellsLow & ~stonesLow;
      const madeHigh = this.winsHigh(withLow, withHigh) & cellsHigh & ~stonesHigh;
      const otherLow = ownLow ^ maskLow;
      const otherHigh = ownHigh ^ maskHigh;
      this.follow(otherLow, otherHigh, stonesLow, stonesHigh, madeLow, madeHigh, free - 1);
      const nextFree = here[6];
      const isOwnTurn = ((free - nextFree) & 1) === 0;
      const asked = isOwnTurn ? threshold : 1 - threshold;
      const answer = this.answer(
        here[0],
        here[1],
        here[2],
        here[3],
        here[4],
        here[5],
        asked,
        nextFree,
      );
      // A success: the player reaches its threshold, or its opponent does not.
      if (answer === (isOwnTurn ? YES : NO)) {
        this.store(ownLow, ownHigh, maskLow, maskHigh, threshold, true);
        return YES;
      }
      if (answer !== UNKNOWN) continue;
      // Threats matter most. A tie goes to the column nearer the centre.
      const score =
        2 * (countBits(madeLow) + countBits(madeHigh)) +
        countBits(madeLow & strongLow) +
        countBits(madeHigh & strongHigh);
      let place = end;
      while (place > begin && waiting[place - 8] < score) {
        for (let i = 0; i < 8; i += 1) waiting[place + i] = waiting[place - 8 + i];
        place -= 8;
      }
      waiting[place] = score;
      for (let i = 0; i < 7; i += 1) waiting[place + 1 + i] = here[i];
      end += 8;
    }
    for (let place = begin; place < end; place += 8) {
      const nextFree = waiting[place + 7];
      const isOwnTurn = ((free - nextFree) & 1) === 0;
      const answer = this.search(
        waiting[place + 1],
        waiting[place + 2],
        waiting[place + 3],
        waiting[place + 4],
        waiting[place + 5],
        waiting[place + 6],
        isOwnTurn ? threshold : 1 - threshold,
        nextFree,
      );
      if (answer === (isOwnTurn ? YES : NO)) {
        this.store(ownLow, ownHigh, maskLow, maskHigh, threshold, true);
        return YES;
      }
    }
    this.store(ownLow, ownHigh, maskLow, maskHigh, threshold, false);
    return NO;
  }
}
