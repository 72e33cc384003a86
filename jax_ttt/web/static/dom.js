// Elements of the page and of its pictures. Text is set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

// Set properties of an element: `class`, `text`, `on` (listeners by event), attributes.
// An attribute that is null, undefined or false is left out; true is an empty one.
function set(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") element.textContent = value;
    else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, listener);
      }
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function html(tag, properties = {}, ...children) {
  return set(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return set(document.createElementNS(SVG, tag), properties, children);
}

export function byId(id) {
  return document.getElementById(id);
}

export function button(text, listener, properties = {}) {
  return html("button", { type: "button", text, on: { click: listener }, ...properties });
}

// A radio button or checkbox with its text.
export function choice(type, name, value, text, checked, onChange) {
  const input = html("input", { type, name, value, checked, on: { change: onChange } });
  return html("label", { class: "choice" }, input, html("span", { text }));
}

// Change a text only if it differs, so that screen readers are not interrupted.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const live = { at: 0 };

// Let screen readers say a text. Two elements take turns: a repeated text is said again.
export function announce(text) {
  const regions = [byId("live-0"), byId("live-1")];
  live.at = 1 - live.at;
  regions[1 - live.at].textContent = "";
  regions[live.at].textContent = text;
}

// Say in the status line that the page could not start.
export function showFailure(error) {
  setText(byId("status-main"), "The page could not start.");
  setText(byId("status-more"), error.message);
  byId("status").dataset.tone = "bad";
  throw error;
}

export function number(value) {
  return value.toLocaleString("en-US");
}

export function percent(fraction, digits = 1) {
  return `${(100 * fraction).toFixed(digits)} %`;
}

// Bring the board into view, which lies above the panels on a phone.
export function revealBoard() {
  const [top, bottom] = [byId("status"), byId("board")];
  const above = top.getBoundingClientRect().top < 0;
  const below = bottom.getBoundingClientRect().bottom > window.innerHeight;
  if (above || below) top.scrollIntoView({ block: "start" });
}

// Ask before something is lost. Resolves to whether the person agreed.
export function confirmed(question, agree) {
  const dialog = byId("dialog");
  byId("dialog-text").textContent = question;
  byId("dialog-agree").textContent = agree;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "agree"), {
      once: true,
    });
  });
}
