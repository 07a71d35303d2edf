// The view of the answer: the way n -> i1 -> i2 -> i3, what each step retrieved, and why, in words.

import { byId, html, percent, probability } from "./dom.js";

/** Show how the answer arose; `onWatch(told)` when a sentence is chosen. */
export function showPath(traced, onWatch) {
  const { question } = traced.trace;
  if (!question) {
    byId("steps").replaceChildren();
    byId("short").textContent = "Ask a question to see how its answer arises.";
    byId("conclusions").replaceChildren();
    return;
  }
  const first = html("li", { class: "step start" },
    html("h3", {}, html("span", { class: "badge" }, "?"), " ", question.parts.n.name.text || "the question"),
    html("p", { class: "note" }, "n: where the search starts"),
    html("p", {}, `“${question.text}”`));
  const steps = question.steps.map((_, place) => card(traced, place, onWatch));
  byId("steps").replaceChildren(first, ...steps, end(question));
  byId("steps").style.setProperty("--steps", steps.length);
  const { short, spare, chain, tests, lead } = traced.why;
  byId("short").textContent = [short, spare].filter(Boolean).join(" ");
  const conclusions = [chain, ...tests, lead].filter(Boolean);
  byId("conclusions").replaceChildren(...conclusions.map((text) => html("li", {}, text)));
}

function card({ trace, why }, place, onWatch) {
  const reason = why.steps[place];
  const relation = trace.question.parts[`l${place + 1}`].name.text;
  return html("li", { class: "step" },
    html("h3", {}, html("span", { class: "badge" }, String(place + 1)), " ", reason?.name ?? "nothing"),
    html("p", { class: "note" }, `i${place + 1}: what was retrieved${relation && ` for “${relation}”`}`),
    html("p", {}, reason?.found ?? "The memory is empty."),
    html("ul", { class: "sources" }, ...(reason?.sources ?? []).map((source) =>
      told(trace, source, onWatch))),
    html("p", { class: "note" }, reason?.guess ?? ""));
}

function told({ sentences, skipped }, { sentence, share }, onWatch) {
  const bar = html("i", {});
  bar.style.setProperty("--share", Math.min(1, Math.abs(share)));
  const against = share < 0;
  return html("li", { class: against ? "against" : null }, html("button", {
    type: "button", onclick: () => onWatch(sentence + 1),
    title: "Watch the memory after this sentence",
  }, html("span", { class: "meter" }, bar), html("b", {}, percent(share)),
  ` ${against ? "taken away" : "told"} by ${skipped + sentence + 1}: ${sentences[sentence].text}`));
}

function end({ answers }) {
  const [best] = answers;
  return html("li", { class: "step end" },
    html("h3", {}, `= “${best.word}”`),
    html("p", { class: "note" }, `the sum of the steps: ${probability(best.probability)}`));
}
