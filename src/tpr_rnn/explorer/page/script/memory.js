// The view of the memory: a slider over the sentences, the graph, and the same in words.

import { partMeanings } from "./compare.js";
import { byId, html, percent, probability, set, svg } from "./dom.js";
import { createGraph, wayOf } from "./graph.js";
import { isNode } from "./likeness.js";
import { classOf, operations } from "./operations.js";

/** The view; `onWatch(told)` when the slider moves. */
export function createMemory(onWatch) {
  const slider = byId("slider");
  slider.addEventListener("input", () => onWatch(Number(slider.value)));
  byId("earlier").addEventListener("click", () => onWatch(Number(slider.value) - 1));
  byId("later").addEventListener("click", () => onWatch(Number(slider.value) + 1));
  const draw = createGraph(byId("graph"));
  let last = null;
  new ResizeObserver(() => last && draw(...last)).observe(byId("graph"));

  return function show(traced, told) {
    const { sentences, skipped } = traced.trace;
    set(slider, { max: sentences.length });
    slider.value = told;
    const moment = told === 0 ? "before the story" : `after sentence ${skipped + told}`;
    slider.setAttribute("aria-valuetext", moment);
    byId("earlier").disabled = told === 0;
    byId("later").disabled = told === sentences.length;
    byId("moment").replaceChildren(...describe(traced.trace, told));
    last = [traced, told];
    draw(traced, told);
    const stops = way(traced, told);
    byId("way").hidden = !stops.length;
    byId("way").replaceChildren("The path of the question: ", ...stops);
    byId("nameless").hidden = !traced.names.some((name) => name.startsWith("["));
    byId("changes").replaceChildren(...changes(traced, told));
    const arrows = told === 0 ? [] : [...sentences[told - 1].held].reverse();
    byId("count").textContent = arrows.length === 1 ? "1 arrow" : `${arrows.length} arrows`;
    byId("held").replaceChildren(...arrows.map((arrow) => held(traced, arrow)));
  };
}

/** The question's way in words, also where it leads through no box of the graph. */
function way({ trace, why }, told) {
  return wayOf(trace, told).flatMap(({ sign, node }, step) => {
    const start = trace.question.parts.n.name.text || "the question";
    const name = step === 0 ? start : why.steps[step - 1].name;
    const elsewhere = step === 0 ? " (in no box)" : " (a mixture)";
    return [step === 0 ? null : " → ", html("span", { class: "badge" }, sign), " ", name,
      node === null && name !== "nothing" ? html("i", {}, elsewhere) : null].filter(Boolean);
  });
}

function describe({ sentences, skipped, question }, told) {
  const cut = skipped && html("span", { class: "reading" },
    `The model reads the last ${sentences.length} sentences of a story: the first ${skipped} are left out.`);
  if (told === 0) {
    return [html("b", {}, "Before the story"), " the memory is empty. Move the slider.", cut].filter(Boolean);
  }
  const { text, parts } = sentences[told - 1];
  return [
    html("b", {}, `${skipped + told}. `), text,
    html("span", { class: "reading" }, "read as ", ...Object.entries(partMeanings()).flatMap(([part, meaning]) =>
      [html("i", { title: meaning }, part), ` ${parts[part].name.text || "–"} `])),
    question && html("span", { class: "reading" }, "asked now, the answer is ",
      html("b", {}, question.over_time[told - 1].word),
      ` (${probability(question.over_time[told - 1].probability)})`),
    cut,
  ].filter(Boolean);
}

function changes({ trace, names }, told) {
  if (told === 0) return [html("li", {}, "Nothing yet.")];
  return trace.sentences[told - 1].changes.map(({ operation, source, relation, removed, added }) => {
    const name = trace.relations[relation].name.text;
    return html("li", {},
      named(operation), ` at ${names[source]}${name && ` by “${name}”`}: `,
      piece("removed", "−", removed, names), " ", piece("added", "+", added, names));
  });
}

const named = (operation) => html("b", { class: classOf(operation) }, operations[operation].title);

function piece(kind, sign, likeness, names) {
  const { node, strength } = likeness;
  const some = Math.abs(strength) >= 0.05;
  const name = isNode(likeness) ? names[node] : `similar to ${names[node]}`;
  const what = some ? `${name} ${percent(strength)}` : "nothing";
  return html("span", { class: some ? kind : "none" }, `${sign} ${what}`);
}

function held({ trace, names }, { source, target, relation, operation, strength, told_by: by }) {
  const name = trace.relations[relation].name.text;
  return html("tr", {},
    html("td", {}, names[source]), html("td", {}, names[target]),
    html("td", {}, named(operation), html("span", { class: "relation" }, name && ` “${name}”`)),
    html("td", { class: "figure" }, percent(strength)),
    html("td", { class: "figure", title: trace.sentences[by].text },
      String(trace.skipped + by + 1)));
}

/** What the lines of the graph mean, for the operations that the model has. */
export function showLegend(used) {
  const lines = used.map((name) =>
    [classOf(name), `${operations[name].title}: ${operations[name].meaning}`]);
  const shown = [
    ...lines,
    ["added", "+ added by this sentence"],
    ["removed", "− removed by this sentence"],
    ["opposite", "the opposite (a negative strength)"],
    ["way", "the path of the question: ? 1 2 3, where it goes from box to box"],
  ];
  byId("legend").replaceChildren(...shown.map(([kind, meaning]) => {
    const line = svg("path", { class: "line", d: "M2 8H34" });
    const end = svg("path", kind === "opposite" ? { class: "head bar", d: "M36 2v12" } : { class: "head", d: "M40 8l-8 -5v10z" });
    const sample = kind === "way" ? svg("path", { class: "way", d: "M4 8H38" }) : svg("g", { class: `arrow ${kind}` }, line, end);
    return html("li", {}, svg("svg", { width: 42, height: 16, "aria-hidden": "true" }, sample), meaning);
  }));
}
