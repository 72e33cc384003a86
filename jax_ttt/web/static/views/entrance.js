// The entrance of the page: one line that says what this is, and what is proven of the
// selected agent of the open game.

import { SEATS, SIDES } from "../engine/rules.js";
import { counted } from "../state/words.js";
import { html } from "../vendor/htm-preact.js";

const WHAT = "Agents that learned by playing against themselves, checked by proof.";

// What is proven of an agent without random moves, in a sentence; empty before it is loaded.
function proofText({ grades, rules, selection, training }) {
  const { agent, loaded } = selection;
  if (loaded === null) return "";
  const known = SIDES.map((side) => {
    const { seat: grade, origin } = grades.knownOf(loaded, side);
    return { seat: SEATS[side], grade, origin };
  });
  const origins = known.map(({ origin }) => origin);
  const game = rules.title.replace("Tic", "tic").replace("Connect Four ", "");
  if (agent?.source === "live" && training.isBusy) return `An agent is learning ${game} here.`;
  if (origins.includes("checking")) {
    return `Your browser is following every line of play of the agent of ${game}…`;
  }
  const proven = known.filter(({ grade }) => grade?.unbeatable === true);
  if (proven.length === SIDES.length) {
    const source = origins.includes("file")
      ? "its file says so; this browser did not check it."
      : "your browser followed every line of play.";
    return `Nobody can beat the agent of ${game}: ${source}`;
  }
  if (proven.length === 1) {
    const [{ seat, grade, origin }] = proven;
    const verb = grade.proven === "win" ? "wins every game" : "never loses";
    const { num_corrections: count } = grade;
    const told = typeof count === "number" ? ` with ${counted(count, "correction")}` : "";
    const source = origin === "file" ? ", by its file" : "";
    return `The agent of ${game} ${verb} moving ${seat}: proven${told}${source}.`;
  }
  if (known.some(({ grade }) => grade?.unbeatable === false)) {
    return `The selected agent of ${game} can be beaten.`;
  }
  return `Nobody knows yet whether the agent of ${game} can be beaten.`;
}

export function Entrance({ app }) {
  return html`<p class="entrance">${WHAT} ${proofText(app)}</p>`;
}
