// Parts that the panels share: messages, questions, numbers as text, tabs and controls.

import { html, useState } from "./vendor/htm-preact.js";
import { read, write } from "./storage.js";

const TOAST_SHOWN = 3000; // ms
const THEMES = { system: "System", light: "Light", dark: "Dark" };

const byId = (id) => document.getElementById(id);

let liveRegion = 0;

// Let screen readers say a text. Two elements take turns: a repeated text is said again.
export function announce(text) {
  byId(`live-${liveRegion}`).textContent = "";
  liveRegion = 1 - liveRegion;
  byId(`live-${liveRegion}`).textContent = text;
}

let toastTimer = null;

// Show a short message at the bottom of the page; screen readers say it, too.
export function say(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  announce(text);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    toast.hidden = true;
  }, TOAST_SHOWN);
}

// Ask before something is lost; `verb` is on the button that agrees. Resolves to whether
// the person agreed. A question that comes while another one is open is not agreed to.
export function confirmed(question, verb) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
  if (dialog.open) return Promise.resolve(false);
  byId("dialog-text").textContent = question;
  byId("dialog-agree").textContent = verb;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    const close = () => resolve(dialog.returnValue === "agree");
    dialog.addEventListener("close", close, { once: true });
  });
}

// Wrap an asynchronous function: its result is passed to `use` only if no newer call has
// been made meanwhile.
export function latest(load, use) {
  let newest = 0;
  return async (...parameters) => {
    newest += 1;
    const call = newest;
    const result = await load(...parameters);
    if (call === newest) use(result);
  };
}

// A whole number with commas: "1,234".
export function number(value) {
  return value.toLocaleString("en-US");
}

// A number of things: "1 correction" or "2,005 corrections".
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// A fraction of 1 as "12.5 %".
export function percent(fraction, digits = 1) {
  return `${(100 * fraction).toFixed(digits)} %`;
}

// A value from -1 to +1 with two digits: "+0.52", "−0.52", "0.00".
export function signed(value) {
  const text = Math.abs(value).toFixed(2);
  if (text === "0.00") return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

// The same value as a screen reader says it: "plus 0.52", "minus 0.52", "0.00".
export function spoken(value) {
  return signed(value).replace("−", "minus ").replace("+", "plus ");
}

// The text with a capital letter at its start.
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Tabs with their panels. `tabs` are { id, title, panel }, where `panel` returns what the
// panel contains; only the selected one is rendered. The arrow keys, Home and End move
// between the tabs; the tab key goes on into the panel. The children stand before the tabs.
export function Tabs({ label, tabs, selected, onSelect, children }) {
  const onKey = (event, i) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined || isShortcut(event)) return;
    event.preventDefault();
    const next = tabs.at(to % tabs.length);
    byId(`tab-${next.id}`).focus();
    onSelect(next.id);
  };
  return html`
    <div class="tab-bar">
      ${children}
      <div role="tablist" aria-label=${label}>
        ${tabs.map(
          ({ id, title }, i) => html`
            <button
              key=${id}
              type="button"
              role="tab"
              id=${`tab-${id}`}
              aria-controls=${`panel-${id}`}
              aria-selected=${String(id === selected)}
              tabindex=${id === selected ? 0 : -1}
              onClick=${() => onSelect(id)}
              onKeyDown=${(event) => onKey(event, i)}
            >
              ${title}
            </button>
          `,
        )}
      </div>
    </div>
    ${tabs.map(
      ({ id, panel }) => html`
        <div
          key=${id}
          role="tabpanel"
          class="panel"
          id=${`panel-${id}`}
          aria-labelledby=${`tab-${id}`}
          hidden=${id !== selected}
        >
          ${id === selected && panel()}
        </div>
      `,
    )}
  `;
}

// Whether a modifier key makes this key press a shortcut of the browser.
export function isShortcut(event) {
  return event.ctrlKey || event.altKey || event.metaKey;
}

// Radio buttons in a row; `options` are [value, text] or [value, text, isDisabled].
export function Radios({ name, legend, options, value, onChange }) {
  return html`
    <fieldset>
      <legend>${legend}</legend>
      <div class="choices">
        ${options.map(
          ([option, text, isDisabled = false]) => html`
            <label class="choice" key=${option}>
              <input
                type="radio"
                name=${name}
                value=${option}
                checked=${option === value}
                disabled=${isDisabled}
                onChange=${() => onChange(option)}
              />
              <span>${text}</span>
            </label>
          `,
        )}
      </div>
    </fieldset>
  `;
}

// A button. While it can't be used, it keeps the focus, which `disabled` would take from it.
export function Button({ isDisabled = false, onClick, look = "", children, ...attributes }) {
  return html`
    <button
      type="button"
      class=${isDisabled ? `${look} off` : look}
      aria-disabled=${isDisabled ? "true" : undefined}
      onClick=${isDisabled ? undefined : onClick}
      ...${attributes}
    >
      ${children}
    </button>
  `;
}

// A button that lets the person choose a file of the types in `accept`, and passes it on.
export function FileButton({ accept, onFile, children }) {
  const choose = (event) => event.target.nextElementSibling.click();
  const pass = ({ target }) => {
    const [file] = target.files;
    target.value = ""; // the same file can be chosen again
    if (file) onFile(file);
  };
  return html`
    <button type="button" onClick=${choose}>${children}</button>
    <input type="file" hidden accept=${accept} onChange=${pass} />
  `;
}

// A checkbox with its label; several of them stand in an element of class "switches".
export function Check({ label, checked, onChange }) {
  return html`
    <label class="choice">
      <input
        type="checkbox"
        checked=${checked}
        onChange=${(event) => onChange(event.target.checked)}
      />
      <span>${label}</span>
    </label>
  `;
}

function keptTheme() {
  const theme = read("theme", "system");
  return Object.hasOwn(THEMES, theme) ? theme : "system";
}

// A button that changes between the system's colours, light and dark.
export function ThemeButton() {
  const [theme, setTheme] = useState(keptTheme);
  document.documentElement.dataset.theme = theme;
  const change = () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(theme) + 1) % names.length];
    write("theme", next);
    setTheme(next);
    announce(`Theme: ${THEMES[next]}`);
  };
  return html`
    <button type="button" class="theme" onClick=${change}>Theme: ${THEMES[theme]}</button>
  `;
}
