// Tabs: the arrow keys move between them, the tab key goes on into the panel.

import { byId } from "page/dom";

export function startTabs(list) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const show = (chosen, focus) => {
    for (const tab of tabs) {
      const here = tab === chosen;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !here;
    }
    if (focus) chosen.focus();
    list.dispatchEvent(new CustomEvent("shown"));
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => show(tab, false));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(tabs.at(to % tabs.length), true);
    });
  });
  show(tabs[0], false);
}
