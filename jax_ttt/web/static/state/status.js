// The status line: the side to move, the result of the game, or what the board shows.

import { LETTERS, SIDES } from "../engine/rules.js";
import { ratesOf } from "./grades.js";
import { summary } from "./review.js";
import { capital, number, percent } from "./words.js";

const RESULTS = { won: "You won.", drawn: "A draw.", lost: "You lost." };

function lastMove(game) {
  const { at: count, rules } = game;
  const side = rules.toMove(game.positions[count - 1]);
  let who = LETTERS[side];
  if (game.side !== null) who += side === game.side ? " (you)" : " (the agent)";
  return `${who}: ${rules.actionName(game.moves[count - 1])}.`;
}

function matchResult(game) {
  const { rules } = game;
  const result = rules.result(game.latest, "x");
  if (result === "drawn") return "A draw.";
  return `${LETTERS[result === "won" ? "x" : "o"]} won.`;
}

// What a line of play that beats the agent shows; the person's side wins it.
function demoStatus({ game, demoSide }) {
  const main = `How to beat it: ${game.at} of ${game.moves.length}`;
  const winner = LETTERS[demoSide];
  const more = game.isLatest
    ? `${winner} wins. New game: try it yourself.`
    : `${winner} beats the agent.`;
  return { main, more, tone: "" };
}

const NO_CHANCE =
  "This game was one of them: the agent had won from the empty board on, and nothing could have " +
  "helped.";

// Why a person lost a game that was lost before its first move, by a proof. It has two lines on a
// phone.
function provenLossText({ grades, play }, { side, origin }) {
  const { lines } = grades.knownOf(play.opponent.loaded, side).seat;
  const all = lines ? `all ${number(lines.won)} lines of play` : "all lines of play";
  const source = origin === "file" ? ", by its file" : "";
  return `As everybody does: ${all} lead here${source}.`;
}

// What a person's finished game was like, in words; `isLong` says that there is room.
export function gameText(state, { isLong = false } = {}) {
  const { play, shown } = state;
  const { game } = play;
  const { provenLoss } = shown;
  if (provenLoss) return provenLossText(state, provenLoss) + (isLong ? ` ${NO_CHANCE}` : "");
  const sides = game.positions.map((position) => game.rules.toMove(position));
  return summary(shown.judgements(), sides, game.side);
}

function endStatus(state) {
  const { game, opponent } = state.play;
  if (game.side === null) return { main: matchResult(game), more: "", tone: "" };
  const notes = [gameText(state)];
  if (game.result === "drawn" && opponent.isDrawBest) {
    notes.unshift("The best result possible against it.");
  }
  if (game.notCounted) notes.push(`Not counted: ${game.notCounted}.`);
  return { main: RESULTS[game.result], more: notes.join(" "), tone: game.result };
}

// Whether the opponent is the agent of a training that began meanwhile, and the person has not
// moved yet.
function hasNewOpponent({ learn, play }) {
  const { agent } = play.opponent;
  const isLearning = [learn.training, learn.followed].some((one) => one.isBusy && one.agentId === agent);
  return isLearning && play.game.side !== null && !play.game.hasBegun;
}

function opponentText(state) {
  const { title } = state.play.opponent;
  return hasNewOpponent(state) ? `New opponent: ${title}` : title;
}

const TITLES = { won: "you won", drawn: "a draw", lost: "you lost" };

// What the title of the document says of the game, for instance "you lost".
function titleOfGame({ game, analysis }) {
  if (game.isDemo) return "how to beat the agent";
  if (analysis) return "analysis";
  if (game.isOver) return TITLES[game.result];
  return game.rules.toMove(game.latest) === game.side ? "your turn" : "the agent's turn";
}

// The title of the document: the game and its result, so that the entries of the browser's history
// differ.
export function titleOf({ play }) {
  return `${play.game.rules.title}: ${titleOfGame(play)} – jax_ttt`;
}

// { main, more, tone } of what the board shows.
export function statusOf(state) {
  const { learn, play, selfPlay } = state;
  const { game, analysis } = play;
  if (game.error) return { main: "That did not work.", more: game.error, tone: "bad" };
  if (analysis?.setup) {
    return { main: "Setting up a position", more: "Click the board to set stones.", tone: "" };
  }
  if (game.isDemo) return demoStatus(play);
  if (!game.isLatest) {
    const main = `Move ${game.at} of ${game.moves.length}`;
    const more = game.isPersonsTurn
      ? "Play on from here, or go forward again."
      : "Go forward to return to the game.";
    return { main, more, tone: "" };
  }
  if (game.isOver) return endStatus(state);
  const letter = LETTERS[game.rules.toMove(game.latest)];
  if (analysis) {
    let more = "Analysis: you move both sides.";
    if (analysis.isMatch) more = game.waiting ? "An agent is choosing a move…" : "Your move.";
    return { main: `${letter} to move`, more, tone: "" };
  }
  const notes = [opponentText(state)];
  if (game.notCounted) notes.push(`Not counted: ${game.notCounted}.`);
  const main = game.isPersonsTurn ? `Your turn: ${letter}` : "The agent is choosing a move…";
  if (selfPlay.position !== null) return selfPlayStatus(selfPlay, main);
  const learning = learn.onBoard;
  if (learning && learning.provenAt !== null && (learning.isMoment || !learning.isBusy)) {
    const more = [capital(learning.sinceText), main, ...notes].join(". ");
    return { main: `Unbeatable${learning.seatText}`, more, tone: "proven" };
  }
  if (learning?.isBusy) notes.unshift(learningText(learning));
  return { main, more: notes.join(". "), tone: "" };
}

// What the first screen shows on the board; `turn` says whose turn it is in the person's game.
function selfPlayStatus({ isMoving }, turn) {
  const more = `A move of yours begins your own game. ${turn}`;
  if (isMoving) return { main: "It plays itself", more, tone: "" };
  return { main: turn, more: "The colours are the values of the moves.", tone: "" };
}

// How far an agent has learned that the board shows.
function learningText({ stateText, rows }) {
  const rates = SIDES.map((side) => [side, ratesOf(rows.at(-1)?.grade, side)]);
  const known = rates.filter(([, rate]) => rate !== null);
  if (known.length === 0) return stateText;
  const texts = known.map(([side, { win_rate: rate }]) => `${percent(rate)} as ${LETTERS[side]}`);
  return `${stateText}. It beats random play: ${texts.join(", ")}`;
}

// What a screen reader hears after a move: the move, its mistake, and the status.
export function spokenStatus(state, status) {
  const { play, shown } = state;
  const { game } = play;
  const parts = [];
  if (game.at) {
    parts.push(lastMove(game));
    const mark = shown.marks()[game.at - 1];
    if (mark) parts.push(`A ${mark.text}.`);
  }
  parts.push(hasNewOpponent(state) ? `${status.main}. ${opponentText(state)}.` : status.main);
  return parts.join(" ");
}
