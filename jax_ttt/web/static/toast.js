// Short messages at the bottom of the page, also said by screen readers.

import { announce, byId } from "page/dom";

const SHOWN = 3000; // ms
let timer = null;

export function say(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  announce(text);
  clearTimeout(timer);
  timer = setTimeout(() => {
    toast.hidden = true;
  }, SHOWN);
}
