// Tabs, for the mouse and the keyboard.

import { set } from "./dom.js";

/** Make tabs of a tab list; `onChoose(panel)` gets the id of a panel. */
export function createTabs(list, onChoose) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const panel = (tab) => tab.getAttribute("aria-controls");
  for (const tab of tabs) tab.addEventListener("click", () => onChoose(panel(tab)));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    onChoose(panel(next));
  });
  return function show(chosen) {
    for (const tab of tabs) {
      const here = panel(tab) === chosen;
      set(tab, { "aria-selected": here, tabindex: here ? 0 : -1 });
      document.getElementById(panel(tab)).hidden = !here;
    }
  };
}
