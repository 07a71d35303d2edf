// A short tour: what the parts of the page are, one after the other.

import { byId, html } from "./dom.js";

const STOPS = [
  ["#stories", "Stories to look at", "Each shows one idea; the line below them says what to look for."],
  [".story", "The story", "Change any sentence. Those that the answer needs are marked; point at one to light its arrows."],
  ["#answer", "The answer", "What the model answers, and the few sentences that this rests on."],
  ["#graph", "The memory", "Boxes are entities, arrows lead from one to another, numbers are sentences. The broad band "
    + "is the path of the question, from ? over what steps 1, 2 and 3 found."],
  [".scrub", "Play", "Watch the memory grow sentence by sentence: green is added, red is taken away."],
  [".tabs", "Further in", "The answer step by step, how alike the sentences are, and two models side by side: "
    + "what if one operation were missing?"],
];
const GAP = 10;

/** Make the tour; `onStart()` brings the page to where all of its stops can be seen. */
export function createTour(onStart) {
  const guide = byId("guide");
  let place = 0;

  function end() {
    guide.hidden = true;
    document.querySelector(".toured")?.classList.remove("toured");
    byId("tour").focus();
  }

  function show(to) {
    place = to;
    document.querySelector(".toured")?.classList.remove("toured");
    const stops = STOPS.filter(([selector]) => document.querySelector(selector).checkVisibility());
    const [selector, title, text] = stops[place];
    const target = document.querySelector(selector);
    target.classList.add("toured");
    target.scrollIntoView({ block: "nearest" });
    const last = place === stops.length - 1;
    const next = html("button", { type: "button", class: "strong", onclick: () => (last ? end() : show(place + 1)) },
      last ? "Done" : "Next");
    guide.replaceChildren(html("h2", {}, title), html("p", {}, text), html("div", { class: "bar" },
      html("span", { class: "count" }, `${place + 1} of ${stops.length}`),
      html("button", { type: "button", onclick: end }, "End"),
      html("button", { type: "button", disabled: place === 0, onclick: () => show(place - 1) }, "Back"), next));
    guide.hidden = false;
    stand(guide, target.getBoundingClientRect());
    next.focus({ preventScroll: true });
  }

  byId("tour").addEventListener("click", () => {
    onStart();
    show(0);
  });
  guide.addEventListener("keydown", ({ key }) => { if (key === "Escape") end(); });
}

/** Put the guide below what it speaks of, or above it, wherever it is seen whole. */
function stand(guide, { left, top, bottom }) {
  const { offsetWidth: width, offsetHeight: height } = guide;
  const under = bottom + GAP + height <= innerHeight;
  const y = under ? bottom + GAP : Math.max(GAP, top - GAP - height >= 0 ? top - GAP - height : innerHeight - height - GAP);
  guide.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
  guide.style.top = `${y}px`;
}
