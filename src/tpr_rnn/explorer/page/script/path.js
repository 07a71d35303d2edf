// The view of the answer step by step: n -> i1 -> i2 -> i3, what each step retrieved, and why, in words.

import { byId, html, percent, probability } from "./dom.js";
import { lighting } from "./light.js";

/** The view; `onWatch(told)` when a sentence is chosen. */
export function createPath(onWatch, light) {
  return function show(traced) {
    const { question } = traced.trace;
    byId("conclusions").hidden = !question;
    if (!question) {
      byId("steps").replaceChildren();
      byId("chain").textContent = "Ask a question to see how its answer arises.";
      return;
    }
    const first = html("li", { class: "step start" },
      html("h3", {}, html("span", { class: "badge" }, "?"), " ", question.parts.n.name.text || "the question"),
      html("p", { class: "note" }, "n: where the search starts"),
      html("p", {}, `“${question.text}”`));
    const steps = question.steps.map((_, place) => card(traced, place, onWatch, light));
    byId("steps").replaceChildren(first, ...steps, end(question));
    byId("steps").style.setProperty("--steps", steps.length);
    const { chain, tests, lead } = traced.why;
    byId("chain").textContent = chain || "How the answer arises, step by step.";
    byId("conclusions").replaceChildren(...[...tests, lead].filter(Boolean).map((text) => html("li", {}, text)));
  };
}

function card({ trace, why }, place, onWatch, light) {
  const reason = why.steps[place];
  const relation = trace.question.parts[`l${place + 1}`].name.text;
  return html("li", { class: "step" },
    html("h3", {}, html("span", { class: "badge" }, String(place + 1)), " ", reason?.name ?? "nothing"),
    html("p", { class: "note" }, `i${place + 1}: what was retrieved${relation && ` for “${relation}”`}`),
    html("p", {}, reason?.found ?? "The memory is empty."),
    html("ul", { class: "sources" }, ...(reason?.sources ?? []).map((source) =>
      told(trace, source, onWatch, light))),
    html("p", { class: "note" }, reason?.guess ?? ""));
}

/** A sentence and its share: to the right of the middle what it told, to the left what it took away. */
function told({ unit, sentences, skipped }, { sentence, share }, onWatch, light) {
  const against = share < 0;
  const bar = html("i", {});
  bar.style.setProperty("--share", Math.min(1, Math.abs(share)));
  return html("li", { class: against ? "against" : null }, html("button", {
    type: "button", onclick: () => onWatch(sentence + 1), ...lighting(light, () => ({ sentences: [sentence] })),
    title: `Watch the memory after this ${unit}`,
  }, html("span", { class: "signed" }, bar), html("b", {}, percent(share)),
  ` ${against ? "taken away" : "told"} by ${skipped + sentence + 1}: ${sentences[sentence].text}`));
}

function end({ answers }) {
  const [best] = answers;
  return html("li", { class: "step end" },
    html("h3", {}, `= “${best.word}”`),
    html("p", { class: "note" }, `the sum of the steps: ${probability(best.probability)}`));
}
