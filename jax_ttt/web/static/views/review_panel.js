// The tab "Review": every move of the game, how good it was, and what was better.

import { LETTERS } from "../engine/rules.js";
import { markOf, verdictOf } from "../state/review.js";
import { gameText } from "../state/status.js";
import { html } from "../vendor/preact.js";

function bestText(rules, best) {
  const names = best.map((action) => rules.actionName(action));
  if (names.length > 2) return `${names[0]} and ${names.length - 1} more`;
  return names.join(" or ");
}

function whoMoved(game, side) {
  if (game.side === null) return "";
  return side === game.side ? ", you" : ", agent";
}

function Row({ play, ply, judged }) {
  const { game } = play;
  const { rules } = game;
  const action = game.moves[ply];
  const side = rules.toMove(game.positions[ply]);
  const mark = markOf(judged);
  const isCurrent = game.at === ply + 1;
  let verdict = "…";
  if (mark) verdict = `${mark.sign} ${mark.text}; better: ${bestText(rules, judged.best)}`;
  else if (judged) verdict = verdictOf(judged, action);
  if (judged?.source) verdict += ` (${judged.source})`;
  const mover = `${LETTERS[side]}${whoMoved(game, side)}`;
  const name = `${ply + 1}. ${mover}: ${rules.actionName(action)}`;
  return html`
    <li class=${`${mark ? "wrong" : "right"}${isCurrent ? " current" : ""}`}>
      <button
        type="button"
        class="link"
        aria-current=${isCurrent ? "step" : undefined}
        onClick=${() => play.show(ply + 1)}
      >
        ${name}
      </button>
      <span class="verdict">${verdict}</span>
    </li>
  `;
}

function heading(state) {
  const { game } = state.play;
  if (game.isDemo) return "The line of play that beats the agent";
  if (game.side === null) return "The moves of this analysis";
  if (!game.isOver) return "The moves of this game";
  return gameText(state, { isLong: true });
}

export function ReviewPanel(state) {
  const { play, shown } = state;
  const { game } = play;
  if (!game.moves.length)
    return html`<p class="note">Play a move first. Each move is listed here.</p>`;
  if (!shown.isReviewed) {
    return html`<p class="note">
      The review begins at the end of the game. To see it now, switch on "Mark mistakes".
    </p>`;
  }
  const judgements = shown.judgements();
  const isSearched = judgements.some((judged) => judged?.isKnown && !judged.isExact);
  const isUnknown = judgements.some((judged) => judged?.isKnown === false);
  let method = "Compared with exact play";
  if (isSearched || isUnknown) method += " where a position can be solved";
  if (isSearched) method += "; else with the agent's own search, which can be wrong";
  const rows = game.moves.map(
    (_, ply) => html`<${Row} key=${ply} play=${play} ply=${ply} judged=${judgements[ply]} />`,
  );
  return html`
    <h3>${heading(state)}</h3>
    <p class="note">${method}. Click a move to see it on the board.</p>
    <ol class="moves">
      ${rows}
    </ol>
  `;
}
