// The page of Connect Four: games against the shipped agents, computed in the browser.

import { announce, byId, choice, html, number, setText, showFailure } from "page/dom";
import { ColumnBoard } from "page/column_board";
import { ColumnGame } from "page/column_game";
import { LineGame } from "page/line_game";
import { Network } from "page/network";
import { reach } from "page/reach";
import { json } from "page/server";
import { startTheme } from "page/theme";
import { say } from "page/toast";
import { RESULTS } from "page/words";

const DEPTHS = [0, 1, 2, 3, 4];
const SIDES = { x: "You", o: "The agent", random: "Random" };
const COLOURS = { x: "blue", o: "orange" };
const VALUES =
  "The agent's value of each column for the player to move: from −1, a loss, to +1, a win. " +
  "Its own move is green.";

function opponentOf(data) {
  const size = `${data.columns} × ${data.rows}`;
  return { ...data, size, rules: new LineGame(data), network: new Network(data) };
}

// What is known about an agent, in words.
function about({ grade }) {
  if (grade.unbeatable === false) return "Some line of play beats it.";
  if (!isProven(grade)) return "Not proven unbeatable.";
  return "Proven unbeatable if it does not look ahead: whoever begins, no line of play beats it.";
}

// Whether no line of play beats an agent of this grade, whoever begins.
function isProven(grade) {
  return grade.unbeatable === true && grade.seats.length === 2;
}

function depthText(depth) {
  return depth === 1 ? "1 move" : `${depth} moves`;
}

class Page {
  constructor(opponents) {
    this.opponents = opponents;
    this.selected = opponents[0];
    this.side = "x";
    this.checking = false;
    this.game = new ColumnGame();
    this.board = new ColumnBoard(byId("board"), (column) => this.game.play(column));
    this.game.addEventListener("change", (event) => this.show(event.detail));
    this.choices();
    byId("new-game").addEventListener("click", () => this.newGame());
    byId("undo").addEventListener("click", () => this.game.undo());
    byId("check").addEventListener("click", () => this.check());
    byId("values").addEventListener("change", () => this.show());
    setText(byId("values-about"), VALUES);
  }

  choices() {
    const named = ({ size, grade }) => (isProven(grade) ? `${size}, proven` : size);
    const agents = this.opponents.map((agent) =>
      choice("radio", "agent", agent.id, named(agent), this.selected === agent, () => {
        this.selected = agent;
        this.chosen();
      }),
    );
    byId("agents").append(...agents);
    const sides = Object.entries(SIDES).map(([side, text]) =>
      choice("radio", "side", side, text, side === this.side, () => {
        this.side = side;
        this.chosen();
      }),
    );
    byId("sides").append(...sides);
    const depths = DEPTHS.map((depth) => html("option", { value: depth, text: depthText(depth) }));
    byId("depth").append(...depths);
    byId("depth").addEventListener("change", (event) => {
      this.game.depth = Number(event.target.value);
      this.showAbout();
      this.show();
    });
  }

  // A new choice holds at once, unless a game would be lost by it.
  chosen() {
    this.showAbout();
    if (this.game.hasBegun && !this.game.isOver) say("This holds from the next game on.");
    else this.newGame();
  }

  newGame() {
    const side = this.side === "random" ? (Math.random() < 0.5 ? "x" : "o") : this.side;
    if (this.board.rules !== this.selected.rules) this.board.build(this.selected.rules);
    return this.game.start(this.selected, side);
  }

  showAbout() {
    const { selected, game } = this;
    const proven = isProven(selected.grade);
    setText(byId("agent-about"), about(selected));
    const searched = "It searches that many moves ahead, with best play of both sides, then uses the network's values.";
    const note = proven ? `${searched} The proof is of the network alone.` : searched;
    setText(byId("depth-about"), game.depth ? note : "The network's values alone choose its move.");
    byId("proof").hidden = !proven;
    setText(byId("check-result"), "");
    if (!proven) return;
    const { first, second } = selected.grade;
    const begins = `${number(first.num_positions)} positions if it begins`;
    const positions = `${begins}, ${number(second.num_positions)} if you do`;
    setText(byId("proof-about"), `Against every opponent it reaches ${positions}; it loses in none.`);
  }

  show(detail = {}) {
    const { game } = this;
    const status = this.status();
    setText(byId("status-main"), status.main);
    setText(byId("status-more"), status.more);
    byId("status").dataset.tone = game.result ?? "";
    this.board.show({
      position: game.position,
      side: game.side,
      playable: game.isPersonsTurn,
      moved: detail.moved,
      values: byId("values").checked && game.isPersonsTurn ? game.values() : null,
    });
    byId("undo").disabled = !game.hasBegun;
    setText(byId("moves"), game.moves.map((column) => column + 1).join(" ") || "none yet");
    if (detail.started || detail.undone) announce(status.main);
    if (detail.moved) announce(`${this.lastMove()} ${status.main}`);
  }

  lastMove() {
    const { game } = this;
    const who = game.rules.stone(game.position, game.position.last) === game.side;
    return `${who ? "You" : "The agent"}: column ${game.moves.at(-1) + 1}.`;
  }

  status() {
    const { game } = this;
    const { size, grade } = game.opponent;
    const depth = game.depth ? `, looks ahead ${depthText(game.depth)}` : "";
    const alone = !game.depth && !game.searched;
    const proven = isProven(grade) && alone ? ", proven unbeatable" : "";
    const more = `Agent for ${size}${proven}${depth}`;
    if (game.result) {
      const count = `after ${game.moves.length} moves`;
      return { main: RESULTS[game.result], more: `${size}, ${count}` };
    }
    if (game.isPersonsTurn) return { main: `Your turn: ${COLOURS[game.side]}`, more };
    return { main: "The agent is choosing a move…", more };
  }

  // Follow every line of play of the selected agent, in both seats.
  async check() {
    const { rules, network, grade } = this.selected;
    if (this.checking) return;
    this.isChecking(true);
    const found = {};
    for (const side of ["x", "o"]) {
      for (found[side] of reach(rules, network, side)) {
        const positions = number(found.x.positions + (found.o?.positions ?? 0));
        setText(byId("check-result"), `${positions} positions…`);
        await new Promise((resolve) => setTimeout(resolve)); // so that it is seen
      }
    }
    const { x, o } = found;
    const losses = x.losses + o.losses;
    const { first, second } = grade;
    const same = x.positions === first.num_positions && o.positions === second.num_positions;
    const counted = `${number(x.positions)} and ${number(o.positions)} positions`;
    const text = `${counted}, ${number(losses)} lost. ${same && !losses ? "The same result." : "Not the same result."}`;
    setText(byId("check-result"), text);
    announce(text);
    this.isChecking(false);
  }

  // The button stays enabled, or it would lose the focus.
  isChecking(checking) {
    this.checking = checking;
    byId("check").setAttribute("aria-disabled", String(checking));
  }
}

async function start() {
  const embedded = byId("data");
  const data = embedded ? JSON.parse(embedded.textContent) : await json("GET", "/api/connect_four");
  const page = new Page(data.agents.map(opponentOf));
  page.showAbout();
  page.newGame();
}

startTheme(byId("theme"));
start().catch(showFailure);
