// The status line: whose turn it is, how the game ended, and what is being shown.

import { summary } from "page/review";
import { RESULTS } from "page/words";

function move(tree, game, count) {
  const side = tree.toMove(game.positions[count - 1]);
  return `${tree.letters[side]} at ${tree.squareName(game.moves[count - 1])}`;
}

// { main, more, tone, spoken } of the game; `judged` and `marks` are of its moves.
export function statusOf(tree, game, judged, marks) {
  const status = inWords(tree, game, judged);
  const last = game.at ? `${move(tree, game, game.at)}. ` : "";
  const mark = game.at && marks[game.at - 1] ? `A ${marks[game.at - 1].text}. ` : "";
  return { ...status, spoken: status.spoken ?? `${last}${mark}${status.main}` };
}

function inWords(tree, game, judged) {
  const { letters } = tree;
  if (game.error) return { main: "That did not work.", more: game.error, tone: "bad" };
  const step = `Move ${game.at} of ${game.moves.length}`;
  if (game.demo) {
    const more = game.isLatest
      ? `${letters[game.side]} wins. New game: try it yourself.`
      : `${letters[game.side]} beats the agent.`;
    return { main: `How to beat it: ${game.at} of ${game.moves.length}`, more, tone: "" };
  }
  if (!game.isLatest) {
    const more = game.isPersonsTurn
      ? "Play on from here, or go forward again."
      : "Go forward to return to the game.";
    return { main: step, more, tone: "" };
  }
  const { result } = game;
  if (result) {
    const more = `${summary(judged, game.side)}.`;
    return { main: RESULTS[result], more, tone: result };
  }
  if (game.isPersonsTurn) {
    return { main: `Your turn: ${letters[game.side]}`, more: game.opponent.label ?? "", tone: "" };
  }
  return { main: "The agent is choosing a move…", more: game.opponent.label ?? "", tone: "" };
}
