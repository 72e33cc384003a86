// Each move against exact play: mistakes, the strip of small boards, and the review.

import { html, revealBoard, svg } from "page/dom";
import { stoneShape } from "page/board";
import { outcomeWord } from "page/words";

// Judge every move: { side, square, loss (how much of the value it gave away), best }.
export function judge(tree, moves, positions) {
  return moves.map((square, ply) => {
    const position = positions[ply];
    const side = tree.toMove(position);
    const before = tree.value(position, side);
    const after = tree.exact(position, square);
    const best = tree.perfectMoves(position);
    return { ply, side, square, before, after, loss: before - after, best };
  });
}

// The mark of a move that gave something away, or null.
export function markOf(judged) {
  if (!judged || judged.loss === 0) return null;
  const from = outcomeWord(judged.before);
  const text = `mistake: from a ${from} to a ${outcomeWord(judged.after)}`;
  return { sign: judged.loss === 2 ? "??" : "?", text };
}

export function smallBoard(tree, position, last) {
  const size = `0 0 ${100 * tree.columns} ${100 * tree.rows}`;
  const board = svg("svg", { class: "small", viewBox: size, "aria-hidden": "true" });
  for (let cell = 0; cell < tree.numCells; cell += 1) {
    const at = [(cell % tree.columns) * 100, Math.floor(cell / tree.columns) * 100];
    const tile = { x: at[0] + 4, y: at[1] + 4, width: 92, height: 92, rx: 14 };
    board.append(svg("rect", { class: cell === last ? "tile last" : "tile", ...tile }));
    const stone = tree.stone(position, cell);
    if (stone) {
      board.append(svg("g", { transform: `translate(${at})` }, stoneShape(stone)));
    }
  }
  return board;
}

// The moves as small boards; there is room for the longest game from the start.
export function showStrip(element, tree, game, marks, longest) {
  const shown = [];
  for (let count = 1; count <= longest; count += 1) {
    if (count > game.moves.length) {
      shown.push(html("span", { class: "frame none" }));
      continue;
    }
    const square = game.moves[count - 1];
    const side = tree.toMove(game.positions[count - 1]);
    const mark = marks[count - 1];
    const name = `Move ${count}: ${tree.letters[side]}, ${tree.squareName(square)}`;
    shown.push(
      html(
        "button",
        {
          type: "button",
          class: "frame",
          "aria-label": mark ? `${name}, ${mark.text}` : name,
          "aria-current": count === game.at ? "step" : null,
          on: { click: () => game.goTo(count) },
        },
        smallBoard(tree, game.positions[count], square),
        mark ? html("span", { class: "mark", text: mark.sign }) : null,
      ),
    );
  }
  const focused = [...element.children].indexOf(document.activeElement);
  element.replaceChildren(...shown);
  if (focused >= 0) element.children[focused].focus?.();
}

function bestText(tree, judged) {
  const names = judged.best.map((square) => tree.squareName(square));
  if (names.length > 2) return `${names[0]} and ${names.length - 1} more`;
  return names.join(" or ");
}

function kept(value) {
  return value < 0 ? "lost already" : `keeps the ${outcomeWord(value)}`;
}

function row(tree, game, judged, marking) {
  const own = !(game.demo && judged.side === game.side);
  const mark = marking && own ? markOf(judged) : null;
  const person = game.demo ? "opponent" : "you";
  const who = judged.side === game.side ? person : "agent";
  const letter = tree.letters[judged.side];
  const show = () => {
    revealBoard();
    game.goTo(judged.ply);
  };
  let verdict = "";
  if (mark) verdict = `${mark.sign} ${mark.text}; better: ${bestText(tree, judged)}`;
  else if (marking && judged.loss === 0) verdict = kept(judged.after);
  return html(
    "li",
    { class: mark ? "wrong" : "right" },
    html("button", {
      type: "button",
      class: "link",
      text: `${judged.ply + 1}. ${letter}, ${who}: ${tree.squareName(judged.square)}`,
      on: { click: show },
    }),
    html("span", { class: "verdict", text: verdict }),
  );
}

// How many of a side's moves kept the value of their position.
export function summary(judged, side) {
  const own = judged.filter((one) => one.side === side);
  const right = own.filter((one) => one.loss === 0).length;
  return `${right} of your ${own.length} moves were best`;
}

function heading(game, judged) {
  if (game.demo) return "The line of play that beats the agent.";
  if (game.isOver) return `${summary(judged, game.side)}.`;
  return "The moves of this game, compared with exact play.";
}

// The moves so far, each compared with exact play if mistakes are to be marked.
export function showReview(element, tree, game, judged, marking) {
  const about = "Click a move to see the position before it; after the game, with its best moves.";
  const rows = judged.map((one) => row(tree, game, one, marking));
  element.replaceChildren(
    html("h3", { text: heading(game, judged) }),
    html("p", { class: "note", text: about }),
    html("ol", { class: "moves" }, ...rows),
  );
}
