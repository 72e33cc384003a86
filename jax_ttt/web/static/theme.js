// Light, dark, or as the system says; the choice is kept where the browser allows that.

import { announce } from "page/dom";

const KEY = "jax_ttt.theme";
const THEMES = ["auto", "light", "dark"];
const NAMES = { auto: "System", light: "Light", dark: "Dark" };

function kept() {
  try {
    const found = localStorage.getItem(KEY);
    return THEMES.includes(found) ? found : "auto";
  } catch {
    return "auto";
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // only this visit
  }
}

export function startTheme(button) {
  let theme = kept();
  const show = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${NAMES[theme]}`;
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    keep(theme);
    show();
    announce(`Theme: ${NAMES[theme]}`);
  });
  show();
}
