// The first screen: what the page is, and three ways in.

import { SEATS, SIDES, other } from "../engine/rules.js";
import { LEVELS } from "../state/levels.js";
import { number, percent } from "../state/words.js";
import { html } from "../vendor/preact.js";

const WHAT = "Agents that learned by playing against themselves, checked by proof.";
const SOURCES = {
  browser: "your browser followed every line of play.",
  file: "its file says so; this browser did not check it.",
};

// What is known of the selected agent at full strength: { title, text, side }, where `side` is
// the one that the person plays, null for any.
function challenge({ grades, selection }) {
  const { loaded } = selection;
  const best = { title: "Try it at full strength", side: null };
  if (loaded === null) return { ...best, text: "No random moves." };
  const known = SIDES.map((side) => ({ side, ...grades.knownOf(loaded, side) }));
  if (known.some(({ origin }) => origin === "checking")) {
    return { ...best, text: "Your browser is following every line of play of the agent…" };
  }
  const proven = known.filter(({ seat }) => seat?.unbeatable === true);
  const title = "Try to beat the unbeatable one";
  if (proven.length === SIDES.length) {
    const isChecked = proven.every(({ origin }) => origin === "browser");
    const source = SOURCES[isChecked ? "browser" : "file"];
    return { title, side: null, text: `At full strength nobody can: ${source}` };
  }
  if (proven.length === 1) {
    const [{ side, seat, origin }] = proven;
    return { title, side: other(side), text: oneSeatText({ side, seat, origin }) };
  }
  if (known.some(({ seat }) => seat?.unbeatable === false)) {
    return { ...best, text: "No random moves. Some line of play beats it: find one." };
  }
  return { ...best, text: "No random moves. Nobody knows yet whether it can be beaten." };
}

// An agent that is proven in one seat alone, so the person has the other one.
function oneSeatText({ side, seat, origin }) {
  const isWinner = seat.proven === "win";
  const verb = isWinner ? "wins every game" : "never loses";
  const played = isWinner && seat.lines?.won ? `: ${number(seat.lines.won)} lines of play` : "";
  const by = origin === "file" ? ", by its file" : "";
  return `It moves ${SEATS[side]} and ${verb}${played}${by}. You move ${SEATS[other(side)]}.`;
}

// A large button: a card, all of which can be clicked, with a text that describes it.
function Way({ id, title, text, look = "", onClick }) {
  return html`
    <div class=${`way ${look}`}>
      <button type="button" aria-describedby=${`way-${id}`} onClick=${onClick}>${title}</button>
      <p id=${`way-${id}`}>${text}</p>
    </div>
  `;
}

export function Invitation({ grades, learn, play, selection, focusBoard }) {
  const { title, text, side } = challenge({ grades, selection });
  const begin = (level, as) => {
    play.playAt(level, as);
    focusBoard();
  };
  return html`
    <div class="invitation">
      <p class="what">${WHAT}</p>
      <${Way}
        id="play"
        look="primary"
        title="Play it"
        text=${`${percent(LEVELS.casual.randomShare, 0)} of its moves are random, so you can win.`}
        onClick=${() => begin("casual", null)}
      />
      <${Way} id="challenge" title=${title} text=${text} onClick=${() => begin("full", side)} />
      <${Way}
        id="watch"
        title="Watch one learn"
        text="A table learns tic-tac-toe in ten seconds, until nobody can beat it."
        onClick=${() => {
          learn.watchOne();
          focusBoard();
        }}
      />
    </div>
  `;
}
