// The part "The network at work": a picture of the selected network on the position of the board.

import { activationsOf } from "../engine/activations.js";
import { makePlayer } from "../engine/players.js";
import { LETTERS } from "../engine/rules.js";
import { counted, signed, spoken } from "../state/words.js";
import { html } from "../vendor/preact.js";

const UNITS = 12; // the strongest ones of each hidden layer
const LINKS = 40; // the strongest ones between two layers
const HEIGHT = 236;
const WIDTH = 360;
const INPUT = 24; // the sides of a square on both boards
const OUTPUT = 42;
const WHAT =
  "From left to right: the board, the units with the largest activations in each hidden layer, " +
  "and the value of each move. A line is a unit's activation times a weight: the thicker, the " +
  "more it adds; dashed lines take away.";
const OTHERS = "This is a picture of a network of tic-tac-toe. Select one in Settings.";
const OVER = "The game is over here. Step back to see the network at work.";

const players = new WeakMap(); // by the file of an agent

function playerOf(rules, { file }) {
  if (!players.has(file)) players.set(file, makePlayer(rules, file));
  return players.get(file);
}

// Whether an agent's network can be shown: hidden layers that see each square once.
function canShow(rules, loaded) {
  if (loaded?.file.kind !== "network" || !rules.isEnumerable) return false;
  const { config, layers } = loaded.file;
  return !config.two_planes && !config.filters && layers.length > 1;
}

// Where the units of a layer are: those of boards in their squares, others one below the other.
function pointsOf(rules, layers) {
  const numHidden = layers.length - 2;
  return layers.map((layer, depth) => {
    const isOutput = depth === layers.length - 1;
    if (depth > 0 && !isOutput) {
      const x = 3 * INPUT + 24 + ((depth - 0.5) / numHidden) * 125;
      return layer.map((_, i) => ({ x, y: ((i + 0.5) * HEIGHT) / layer.length }));
    }
    const size = isOutput ? OUTPUT : INPUT;
    const left = isOutput ? WIDTH - 2 - rules.columns * size : 2;
    const top = (HEIGHT - rules.rows * size) / 2;
    return layer.map((_, cell) => ({
      x: left + ((cell % rules.columns) + 0.5) * size,
      y: top + (Math.floor(cell / rules.columns) + 0.5) * size,
    }));
  });
}

function Links({ links, from, to, isShown }) {
  const shown = links.filter(({ to: unit, amount }) => amount !== 0 && isShown(unit));
  shown.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  const most = Math.abs(shown[0]?.amount ?? 1);
  return shown.slice(0, LINKS).map(({ from: i, to: k, amount }) => {
    const share = Math.abs(amount) / most;
    const [a, b] = [from[i], to[k]];
    return html`<line
      key=${`${i} ${k}`}
      class=${amount < 0 ? "less" : "more"}
      x1=${a.x} y1=${a.y} x2=${b.x} y2=${b.y}
      stroke-width=${0.4 + 2.2 * share}
      stroke-opacity=${0.25 + 0.6 * share}
    />`;
  });
}

function Square({ point, size, text, look }) {
  const half = size / 2 - 1;
  return html`
    <g class=${look} transform=${`translate(${point.x} ${point.y})`}>
      <rect x=${-half} y=${-half} width=${2 * half} height=${2 * half} rx="4" />
      <text y=${size === OUTPUT ? 4 : 5} text-anchor="middle">${text}</text>
    </g>
  `;
}

// The picture in a sentence.
function sentenceOf(rules, position, layers, move) {
  const hidden = counted(layers.length - 2, "hidden layer");
  const value = spoken(layers.at(-1)[move].value);
  return (
    `The network at work: from the ${rules.numCells} squares through the ${layers[1].length} ` +
    `strongest units of ${hidden} to the values of ${rules.legal(position).length} moves. ` +
    `Its move is ${rules.actionName(move)}, with the value ${value}.`
  );
}

function Picture({ rules, position, player }) {
  const { layers, links } = activationsOf(player, position, UNITS);
  const points = pointsOf(rules, layers);
  const move = player.move(position);
  const outputs = layers.at(-1);
  const isLegal = (cell) => !Number.isNaN(outputs[cell].value);
  return html`
    <svg
      class="at-work"
      viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label=${sentenceOf(rules, position, layers, move)}
    >
      ${links.map((between, i) => {
        const isShown = i === links.length - 1 ? isLegal : () => true;
        const ends = { from: points[i], to: points[i + 1] };
        return html`<${Links} key=${i} links=${between} isShown=${isShown} ...${ends} />`;
      })}
      ${layers[0].map((_, cell) => {
        const stone = rules.stone(position, cell);
        const text = stone ? LETTERS[stone] : "";
        return html`<${Square} point=${points[0][cell]} size=${INPUT} text=${text} look=${stone} />`;
      })}
      ${layers.slice(1, -1).map((layer, i) =>
        layer.map(({ value }, k) => {
          const { x, y } = points[i + 1][k];
          const share = value / layer[0].value || 0;
          return html`<circle cx=${x} cy=${y} r=${2 + 5 * Math.abs(share)} />`;
        }),
      )}
      ${outputs.map(({ value }, cell) => {
        const look = cell === move ? "value own" : "value";
        const text = isLegal(cell) ? signed(value) : "";
        return html`<${Square} point=${points.at(-1)[cell]} size=${OUTPUT} text=${text} look=${look} />`;
      })}
    </svg>
    <p class="note">${WHAT}</p>
  `;
}

export function NetworkPanel({ play, selection }) {
  const { rules, position } = play.game;
  if (!canShow(rules, selection.loaded)) return html`<p class="note">${OTHERS}</p>`;
  if (rules.isOver(position)) return html`<p class="note">${OVER}</p>`;
  const player = playerOf(rules, selection.loaded);
  return html`<${Picture} rules=${rules} position=${position} player=${player} />`;
}
