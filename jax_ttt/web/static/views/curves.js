// Curves of learning as SVG: results against random play, and the rounds of a training.

import { LETTERS, SIDES } from "../engine/rules.js";
import { byFile, provenFrom, ratesOf, seatOf } from "../state/grades.js";
import { number, percent } from "../state/words.js";
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

const HEIGHT = 170;
const USUAL_WIDTH = 300; // until a chart is measured
const LEFT = 40;
const BOTTOM = 24;
const TOP = 12;
const RIGHT = 8;
export const PARTS = { wins: "win_rate", draws: "draw_rate", losses: "loss_rate" };
const NAMES = {
  wins: "wins",
  draws: "draws",
  losses: "losses",
  optimal: "best moves",
  proof: "proven from here on",
};

// The width of an element in CSS pixels, and its `ref`: a chart is drawn as wide as it is, so
// that its texts keep their size.
function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(USUAL_WIDTH);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry.contentRect.width));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, width: Math.max(width, LEFT + RIGHT + 1) };
}

// Positions in the picture: of an update, and of a share (0 to 1) of the height.
function scaleOf(rows, width) {
  const end = Math.max(rows.at(-1)?.update ?? 0, 1);
  return {
    end,
    width,
    x: (update) => LEFT + (update / end) * (width - LEFT - RIGHT),
    y: (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM),
  };
}

function pointsOf(pairs) {
  return pairs.map((pair) => pair.join(",")).join(" ");
}

function Upright({ scale, update, look }) {
  const x = scale.x(Math.min(update, scale.end));
  return html`<line class=${look} x1=${x} x2=${x} y1=${scale.y(1) - 6} y2=${scale.y(0)} />`;
}

// Horizontal lines at `marks`, [share, text] each, and the numbers of updates below.
function Axes({ scale, marks, isEmpty = false }) {
  const { x, y, end, width } = scale;
  const lines = marks.map(
    ([share, text]) => html`
      <line class="mark-line" x1=${LEFT} x2=${width - RIGHT} y1=${y(share)} y2=${y(share)} />
      <text class="tick" x=${LEFT - 5} y=${y(share) + 4} text-anchor="end">${text}</text>
    `,
  );
  if (isEmpty) return lines;
  return html`
    ${lines}
    <text class="tick" x=${x(0)} y=${HEIGHT - 8} text-anchor="middle">0</text>
    <text class="tick" x=${(LEFT + width) / 2} y=${HEIGHT - 8} text-anchor="middle">updates</text>
    <text class="tick" x=${x(end)} y=${HEIGHT - 8} text-anchor="end">${number(end)}</text>
  `;
}

// A chart with its caption: `draw(scale)` returns the curves. The row under the pointer, or the
// one that the arrow keys reach, is passed to `readout(row)`, which is the line below. To a
// screen reader the chart is a slider over the rows.
function Chart({ caption, label, rows, marks, update, pointed, onPoint, readout, draw }) {
  const { ref, width } = useWidth();
  const scale = scaleOf(rows, width);
  const nearest = (at) =>
    rows.reduce((best, row) =>
      Math.abs(row.update - at) < Math.abs(best.update - at) ? row : best,
    );
  const current = pointed ?? update;
  const row = current === null ? rows.at(-1) : nearest(current);

  function follow(event) {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left - LEFT) / (width - LEFT - RIGHT)) * scale.end;
    onPoint(nearest(at).update);
  }

  function step(event) {
    const i = rows.indexOf(row);
    const [before, after] = [i - 1, i + 1];
    const arrows = { ArrowLeft: before, ArrowDown: before, ArrowRight: after, ArrowUp: after };
    const to = { ...arrows, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onPoint(rows[Math.min(Math.max(to, 0), rows.length - 1)].update);
  }

  return html`
    <figure class="chart">
      <figcaption>${caption}</figcaption>
      <svg
        ref=${ref}
        role="slider"
        aria-label=${label}
        aria-valuemin=${rows[0].update}
        aria-valuemax=${rows.at(-1).update}
        aria-valuenow=${row.update}
        aria-valuetext=${readout(row)}
        tabindex="0"
        onPointerMove=${follow}
        onPointerDown=${follow}
        onPointerLeave=${() => onPoint(null)}
        onKeyDown=${step}
        onBlur=${() => onPoint(null)}
      >
        ${draw(scale)}
        <${Axes} scale=${scale} marks=${marks} />
        ${update !== null && html`<${Upright} scale=${scale} update=${update} look="now-line" />`}
        ${
          pointed !== null &&
          html`<${Upright} scale=${scale} update=${pointed} look="point-line" />`
        }
      </svg>
      <p class="figures">${readout(row)}</p>
    </figure>
  `;
}

// As large as a chart, so that nothing moves once there is one.
function EmptyChart({ caption, reason }) {
  const { ref, width } = useWidth();
  const scale = scaleOf([], width);
  const marks = [0, 0.5, 1].map((share) => [share, ""]);
  return html`
    <figure class="chart">
      <figcaption>${caption}</figcaption>
      <svg ref=${ref} role="img" aria-label=${`${caption}: ${reason}`}>
        <${Axes} scale=${scale} marks=${marks} isEmpty=${true} />
        <text class="tick" x=${(LEFT + width) / 2} y=${scale.y(0.5) - 8} text-anchor="middle">
          ${reason}
        </text>
      </svg>
      <p class="figures"></p>
    </figure>
  `;
}

// The areas of wins, draws and losses, one above the other from the bottom.
function Areas({ rows, side, scale }) {
  let below = rows.map(() => 0);
  return Object.entries(PARTS).map(([part, rate]) => {
    const above = rows.map(({ grade }, i) => below[i] + ratesOf(grade, side)[rate]);
    const upper = rows.map(({ update }, i) => [scale.x(update), scale.y(above[i])]);
    const lower = rows.map(({ update }, i) => [scale.x(update), scale.y(below[i])]);
    below = above;
    return html`<polygon
      class=${`area ${part}`}
      points=${pointsOf([...upper, ...lower.reverse()])}
    />`;
  });
}

// The share of positions in which the agent's move is a best one, where it is known.
function bestOf(grade, side) {
  return seatOf(grade, side)?.optimal_move_rate;
}

function BestMoves({ rows, side, scale }) {
  const points = pointsOf(
    rows
      .map(({ update, grade }) => [update, bestOf(grade, side)])
      .filter(([, rate]) => typeof rate === "number")
      .map(([update, rate]) => [scale.x(update), scale.y(rate)]),
  );
  if (!points) return null;
  return html`
    <polyline class="best-back" points=${points} />
    <polyline class="best" points=${points} />
  `;
}

function ratesText({ update, grade }, side) {
  const rates = ratesOf(grade, side);
  const texts = Object.entries(PARTS).map(([part, rate]) => `${percent(rates[rate])} ${part}`);
  const best = bestOf(grade, side);
  if (typeof best === "number") texts.push(`${percent(best, 0)} best moves`);
  return `update ${number(update)}: ${texts.join(" · ")}`;
}

function proofText(rows) {
  const proven = provenFrom(rows);
  const text = proven === null ? "Not proven" : `Proven from update ${number(proven)} on`;
  return `${text}${byFile(rows)}.`;
}

// The results against random play by side. `rows` are { update, grade }; `update` is
// marked, null for none; `reason` stands where there are no curves.
export function LearningCurves({ rows, update, reason }) {
  const [pointed, onPoint] = useState(null);
  const proven = provenFrom(rows);
  const charts = SIDES.map((side) => {
    const caption = `As ${LETTERS[side]}`;
    const graded = rows.filter(({ grade }) => ratesOf(grade, side));
    if (graded.length < 2) {
      return html`<${EmptyChart} key=${side} caption=${caption} reason=${reason} />`;
    }
    const draw = (scale) => html`
      <${Areas} rows=${graded} side=${side} scale=${scale} />
      <${BestMoves} rows=${graded} side=${side} scale=${scale} />
      ${proven !== null && html`<${Upright} scale=${scale} update=${proven} look="proven-line" />`}
    `;
    return html`
      <${Chart}
        key=${side}
        caption=${caption}
        label=${`${caption} against random play. ${proofText(rows)}`}
        rows=${graded}
        marks=${[0, 0.5, 1].map((share) => [share, `${100 * share}%`])}
        update=${update}
        pointed=${pointed}
        onPoint=${onPoint}
        readout=${(row) => ratesText(row, side)}
        draw=${draw}
      />
    `;
  });
  const hasBest = rows.some(({ grade }) => typeof bestOf(grade, "x") === "number");
  const names = Object.entries(NAMES).filter(([name]) => name !== "optimal" || hasBest);
  const keys = names.map(
    ([name, text]) => html`<li key=${name}>
        <span class=${`key ${name}`}></span>${text}${name === "proof" && byFile(rows)}
      </li>`,
  );
  return html`
    <div class="curves">
      ${charts}
      <ul class="legend">
        ${keys}
      </ul>
    </div>
  `;
}

function endsOf({ grade }, side) {
  return seatOf(grade, side)?.losing_ends;
}

// Whether the rows are the rounds of a training that searches for lost positions.
export function hasRounds(rows) {
  return rows.some((row) => SIDES.some((side) => typeof endsOf(row, side) === "number"));
}

// The number of moves that beat the agent after each round, by side; the
// height is logarithmic.
export function RoundCurves({ rows }) {
  const [pointed, onPoint] = useState(null);
  const rounds = rows.filter((row) => hasRounds([row]));
  if (rounds.length < 2) {
    return html`<${EmptyChart} caption="Winning replies" reason="the first rounds are not over" />`;
  }
  const counts = rounds.flatMap((row) => SIDES.map((side) => endsOf(row, side) ?? 0));
  const digits = Math.max(1, Math.ceil(Math.log10(Math.max(...counts) + 1)));
  const height = (count) => Math.log10(count + 1) / digits;
  const marks = [0, ...Array.from({ length: digits }, (_, i) => 10 ** (i + 1))];
  const proven = provenFrom(rounds);
  const line = (side, scale) => {
    const graded = rounds.filter((row) => typeof endsOf(row, side) === "number");
    const points = graded.map((row) => [scale.x(row.update), scale.y(height(endsOf(row, side)))]);
    return html`<polyline key=${side} class=${`ends ${side}`} points=${pointsOf(points)} />`;
  };
  const draw = (scale) => html`
    ${SIDES.map((side) => line(side, scale))}
    ${proven !== null && html`<${Upright} scale=${scale} update=${proven} look="proven-line" />`}
  `;
  const read = (row) => {
    const ends = SIDES.map((side) => `${number(endsOf(row, side) ?? 0)} as ${LETTERS[side]}`);
    return `update ${number(row.update)}: winning replies ${ends.join(" · ")}`;
  };
  const keys = SIDES.map(
    (side) =>
      html`<li key=${side}><span class=${`key ends ${side}`}></span>as ${LETTERS[side]}</li>`,
  );
  return html`
    <div class="curves one">
      <${Chart}
        caption="Winning replies: moves of the opponent that beat the agent"
        label=${`Winning replies. ${proofText(rounds)}`}
        rows=${rounds}
        marks=${marks.map((count) => [height(count), number(count)])}
        update=${null}
        pointed=${pointed}
        onPoint=${onPoint}
        readout=${read}
        draw=${draw}
      />
      <ul class="legend">
        ${keys}
        <li><span class="key proof"></span>${NAMES.proof}${byFile(rows)}</li>
      </ul>
    </div>
  `;
}
