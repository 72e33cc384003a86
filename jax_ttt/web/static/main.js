// Starts the page: its state, its first rendering, and the keys of the whole page.

import { openSource } from "./files/source.js";
import { App } from "./state/app.js";
import { titleOf } from "./state/status.js";
import { Page, reveal } from "./views/page.js";
import { isShortcut } from "./views/ui.js";
import { html, render } from "./vendor/htm-preact.js";

// Keys of the whole page; a field, a tab or a board that uses a key itself keeps it.
function onKey(app, event) {
  if (isShortcut(event) || event.defaultPrevented) return;
  const { target } = event;
  if (target.closest("select, textarea, [role=tablist], dialog")) return;
  const isField = target.matches("input:not([type=radio], [type=checkbox])");
  if (isField) return;
  const isInput = target.matches("input"); // the arrows are its own
  const key = event.key.toLowerCase();
  const { play, shown } = app;
  const { game } = play;
  if (key === "arrowleft" && !isInput) game.goTo(game.at - 1);
  else if (key === "arrowright" && !isInput) game.goTo(game.at + 1);
  else if (event.repeat || play.analysis?.setup) return;
  else if (key === "n") play.startNewGame();
  else if (key === "u") game.undo();
  else if (key === "h") shown.showHint();
  else if (/^\d$/.test(key)) play.act(app.rules.actionOfNumber(Number(key)));
  else return;
  event.preventDefault();
}

function openPage() {
  const root = document.getElementById("page");
  const app = new App({
    source: openSource(),
    render: () => {
      root.querySelector(".loading")?.remove();
      document.title = titleOf(app);
      render(html`<${Page} app=${app} />`, root);
    },
    reveal,
  });
  document.addEventListener("keydown", (event) => onKey(app, event));
  window.addEventListener("hashchange", () => app.followAddress());
  return app.start();
}

openPage().catch((error) => {
  const text = document.createElement("p");
  text.textContent = `The page could not start. ${error.message}`;
  document.getElementById("page").replaceChildren(text);
  throw error;
});
