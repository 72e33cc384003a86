// The moves of a game as a list, in which each entry shows its position.

import { LETTERS } from "../engine/rules.js";
import { stoneShape } from "./board.js";
import { Button, isShortcut } from "./ui.js";
import { html } from "../vendor/preact.js";

// A move in words: "X, square 1".
function moveName(rules, position, action) {
  return `${LETTERS[rules.toMove(position)]}, ${rules.actionName(action)}`;
}

// The list with a button at each end. `game` is a Game; `marks` has for each of its moves
// { sign, text } or null. Its height does not change with its length.
export function MoveList({ game, marks }) {
  const { rules } = game;
  const step = (event) => {
    const to = {
      ArrowLeft: game.at - 1,
      ArrowUp: game.at - 1,
      ArrowRight: game.at + 1,
      ArrowDown: game.at + 1,
      Home: 0,
      End: game.moves.length,
    }[event.key];
    if (to === undefined || isShortcut(event)) return;
    event.preventDefault();
    const count = Math.max(0, Math.min(to, game.moves.length));
    event.currentTarget.querySelectorAll("button")[Math.max(count - 1, 0)].focus();
    game.goTo(count);
  };
  return html`
    <div class="replay">
      <h3 class="replay-title">Moves</h3>
      <${Button}
        aria-label="One move back"
        isDisabled=${game.at === 0}
        onClick=${() => game.goTo(game.at - 1)}
      >
        ‹
      <//>
      <ol
        class="move-list"
        aria-label="Moves of this game"
        onKeyDown=${step}
      >
        ${game.moves.map((action, i) => entry({ rules, game, action, i, mark: marks[i] }))}
      </ol>
      <${Button}
        aria-label="One move forward"
        isDisabled=${game.isLatest}
        onClick=${() => game.goTo(game.at + 1)}
      >
        ›
      <//>
    </div>
    ${game.original && returnNote(rules, game)}
  `;
}

function entry({ rules, game, action, i, mark }) {
  const isShown = i + 1 === game.at;
  const isReachable = isShown || (i === 0 && game.at === 0); // by the tab key
  const name = `Move ${i + 1}: ${moveName(rules, game.positions[i], action)}`;
  return html`
    <li key=${i} ref=${isShown ? scrollToEntry : null}>
      <button
        type="button"
        class="frame"
        aria-current=${isShown ? "step" : null}
        tabindex=${isReachable ? 0 : -1}
        onClick=${() => game.goTo(i + 1)}
      >
        <span class="unseen">${mark ? `${name}, ${mark.text}.` : `${name}.`}</span>
        <span class="shown" aria-hidden="true">
          ${shortMove(rules, game, i)} ${mark && html`<span class="mark">${mark.sign}</span>`}
        </span>
      </button>
    </li>
  `;
}

// The number of the move, its stone, and its square or column as the board shows it.
function shortMove(rules, game, i) {
  const side = rules.toMove(game.positions[i]);
  return html`
    <span class="count">${i + 1}</span>
    <svg class="disc-icon" viewBox="0 0 100 100">${stoneShape(rules, side)}</svg>
    <span>${rules.numberOf(game.moves[i])}</span>
  `;
}

// Scroll the list, but not the page, to an entry once it is in the page.
function scrollToEntry(item) {
  if (item) queueMicrotask(() => scrollWithin(item.parentElement, item));
}

function scrollWithin(list, item) {
  const top = item.offsetTop - list.offsetTop;
  const bottom = top + item.offsetHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
}

// The moves of the first line from where the person branched off.
function returnNote(rules, game) {
  const same = game.moves.findIndex((action, i) => action !== game.original.moves[i]);
  const count = same < 0 ? game.moves.length : same;
  const place = count ? `move ${count}` : "the start";
  return html`
    <p class="original note">
      You play on from ${place}.${" "}
      <button type="button" class="link" onClick=${() => game.restore()}>
        Return to the first line
      </button>
    </p>
  `;
}
