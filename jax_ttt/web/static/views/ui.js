// Parts that the panels share: tabs and controls.

import { read, write } from "../files/storage.js";
import { announce } from "../state/messages.js";
import { html, useState } from "../vendor/preact.js";

const THEMES = { system: "System", light: "Light", dark: "Dark" };

// Tabs with their panels. `tabs` are { id, title, panel }, where `panel` returns what the
// panel contains; only the selected one is rendered. The arrow keys, Home and End move
// between the tabs; the tab key goes on into the panel. The children stand before the tabs.
export function Tabs({ label, tabs, selected, onSelect, children }) {
  const onKey = (event, i) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined || isShortcut(event)) return;
    event.preventDefault();
    const next = tabs.at(to % tabs.length);
    document.getElementById(`tab-${next.id}`).focus();
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
              tabindex=${id === selected || (selected === null && i === 0) ? 0 : -1}
              onClick=${() => onSelect(id)}
              onKeyDown=${(event) => onKey(event, i)}
            >
              <${Icon} name=${id} /><span class="tab-title" data-title=${title}>${title}</span>
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

// The shapes of icons, in a box of 24 x 24 units.
const ICONS = {
  board: "M4 4h16v16H4z M4 9.5h16 M4 14.5h16 M9.5 4v16 M14.5 4v16",
  game: "M7 5l12 7-12 7z",
  learning: "M4 20V4 M4 20h16 M7 15l4-5 3 3 5-7",
  proof: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z M8.5 12l2.5 2.5 4.5-5",
  more: "M5 12h.01 M12 12h.01 M19 12h.01",
};

export function Icon({ name }) {
  return html`
    <svg class=${`icon ${name}`} viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[name]} /></svg>
  `;
}

// A title that opens and closes what follows; the content is made while it is open.
export function Disclosure({ title, isOpen, onToggle, children }) {
  const toggle = (event) => {
    event.preventDefault(); // the state opens it
    onToggle();
  };
  return html`
    <details class="disclosure" open=${isOpen}>
      <summary onClick=${toggle}>${title}</summary>
      <div class="panel-part">${isOpen && children}</div>
    </details>
  `;
}

// Give the focus to a tab, where the control that had it goes.
export function focusTab(id) {
  document.getElementById(`tab-${id}`).focus();
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
