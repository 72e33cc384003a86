// Messages and questions to the person, and what is brought into their view.

const TOAST_SHOWN = 3000; // ms

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

// Bring the board into view, which lies above the panels on a phone.
export function reveal() {
  for (const id of ["board", "status"]) byId(id).scrollIntoView({ block: "nearest" });
}
