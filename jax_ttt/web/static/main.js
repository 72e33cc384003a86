// Starts the page: its state, its first rendering, and the keys of the whole page.

import { openSource } from "./files/source.js";
import { makeState } from "./state/page_state.js";
import { titleOf } from "./state/status.js";
import { Page } from "./views/page.js";
import { isShortcut } from "./views/ui.js";
import { effect, html, render } from "./vendor/preact.js";

// Keys of the whole page; a field, a tab or a board that uses a key itself keeps it.
function onKey({ play, shown }, event) {
  if (isShortcut(event) || event.defaultPrevented) return;
  const { target } = event;
  if (target.closest("select, textarea, [role=tablist], dialog")) return;
  const isField = target.matches("input:not([type=radio], [type=checkbox])");
  if (isField) return;
  const isInput = target.matches("input"); // the arrows are its own
  const key = event.key.toLowerCase();
  const { game } = play;
  if (key === "arrowleft" && !isInput) game.goTo(game.at - 1);
  else if (key === "arrowright" && !isInput) game.goTo(game.at + 1);
  else if (event.repeat || play.analysis?.setup) return;
  else if (key === "n") play.startNewGame();
  else if (key === "u") game.undo();
  else if (key === "h") shown.showHint();
  else if (/^\d$/.test(key)) play.act(game.rules.actionOfNumber(Number(key)));
  else return;
  event.preventDefault();
}

async function openPage() {
  const root = document.getElementById("page");
  const state = makeState(openSource());
  document.addEventListener("keydown", (event) => onKey(state, event));
  window.addEventListener("hashchange", () => state.navigation.followAddress());
  await state.navigation.start();
  root.querySelector(".loading")?.remove();
  render(html`<${Page} ...${state} />`, root);
  effect(() => {
    document.title = titleOf(state);
  });
}

openPage().catch((error) => {
  const text = document.createElement("p");
  text.textContent = `The page could not start. ${error.message}`;
  document.getElementById("page").replaceChildren(text);
  throw error;
});
