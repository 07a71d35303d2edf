// The view of the memory: a slider over the sentences, play, the picture, and the same in numbers.

import { pathOf } from "./arrows.js";
import { partMeanings } from "./compare.js";
import { byId, html, percent, probability, set, svg } from "./dom.js";
import { createGraph } from "./graph.js";
import { isNode } from "./likeness.js";
import { classOf, operations } from "./operations.js";
import { createPlayer } from "./player.js";

/** The view; `onWatch(told)` when the slider moves. */
export function createMemory(onWatch, light) {
  const slider = byId("slider");
  const draw = createGraph(byId("graph"), light);
  let last = null; // what is shown: the trace, the sentences told, the steps taken
  const player = createPlayer(byId("play"), {
    sentences: () => last?.[0].trace.sentences.length ?? 0,
    steps: () => last?.[0].trace.question?.steps.length ?? 0,
    onMoment: onWatch,
    onStep: (steps) => look(last[0], last[1], steps),
  });
  const watch = (told) => {
    player.stop();
    onWatch(told);
  };
  slider.addEventListener("input", () => watch(Number(slider.value)));
  byId("earlier").addEventListener("click", () => watch(Number(slider.value) - 1));
  byId("later").addEventListener("click", () => watch(Number(slider.value) + 1));
  new ResizeObserver(() => last && draw(...last)).observe(byId("graph"));
  light.onChange((lit) => last && caption(last[0], last[1], lit));

  function look(traced, told, steps) {
    if (last && last[0].trace !== traced.trace) light.set(null); // it was on another story
    last = [traced, told, steps];
    byId("moment").replaceChildren(...describe(traced, told, steps));
    draw(traced, told, steps);
    caption(traced, told, light.now());
  }

  return function show(traced, told) {
    const { unit, sentences, skipped } = traced.trace;
    set(slider, { max: sentences.length });
    slider.value = told;
    slider.setAttribute("aria-valuetext", told === 0 ? "before the story" : `after ${unit} ${skipped + told}`);
    byId("earlier").disabled = told === 0;
    byId("later").disabled = told === sentences.length;
    byId("play").disabled = !sentences.length;
    look(traced, told, player.steps());
    showNumbers(traced, told);
  };
}

/** The moment that is shown, or the question's path, also where it leads through no box. */
function describe(traced, told, steps) {
  const { unit, sentences, skipped, question } = traced.trace;
  const cut = skipped
    ? ` The model reads the last ${sentences.length} ${unit}s of a story: the first ${skipped} are left out.` : "";
  if (told === 0) return [html("b", {}, "Before the story"), ` the memory is empty.${cut}`];
  if (question && told === sentences.length) {
    return [html("span", { class: "lead" }, "The path of the question: "), ...wayInWords(traced).slice(0, 3 * (steps + 1)), cut];
  }
  const now = question?.over_time[told - 1];
  return [
    html("b", {}, `After ${skipped + told}. ${sentences[told - 1].text}`),
    now ? ` Asked now, the answer is “${now.word}” (${probability(now.probability)}).${cut}` : cut,
  ];
}

/** For each stop an arrow, its badge and its name. */
function wayInWords({ trace, why, names }) {
  return pathOf(trace).flatMap((node, step) => {
    const name = node !== null ? names[node]
      : step === 0 ? trace.question.parts.n.name.text || "the question" : why.steps[step - 1].name;
    const elsewhere = node === null && name !== "nothing";
    return [step === 0 ? "" : " → ", html("span", { class: "badge" }, step === 0 ? "?" : step),
      html("span", { class: "stop" }, ` ${name}`,
        elsewhere ? html("i", {}, step === 0 ? " (in no box)" : " (a mixture)") : null)];
  });
}

/** What is pointed at, in words. */
function caption({ trace, names }, told, lit) {
  const say = (sentence) => `${trace.skipped + sentence + 1}. ${trace.sentences[sentence].text}`;
  const host = byId("caption");
  if (!lit || lit.sentences.some((sentence) => !trace.sentences[sentence])) host.textContent = "Point at a box, an arrow or a sentence to see what belongs to it.";
  else if (lit.node !== undefined) host.textContent = `${names[lit.node]}: ${listed(lit.sentences, say, trace)}`;
  else if (lit.arrow) host.textContent = lit.sentences.map(say).join(" ") + arrowInWords(lit.arrow);
  else host.textContent = lit.sentences.map(say).join(" ") + (isLeft(trace, told, lit) ? "" : " Nothing of it is held now.");
}

const listed = (sentences, say, { unit, skipped }) => (sentences.length > 2
  ? `${unit}s ${sentences.map((sentence) => skipped + sentence + 1).join(", ")}` : sentences.map(say).join(" "));

/** Whether the memory still holds something of one of these sentences. */
const isLeft = ({ sentences }, told, lit) => told > 0
  && sentences[told - 1].held.some(({ told_by: by }) => lit.sentences.includes(by));

const arrowInWords = (key) => ` (${operations[key.split(" ")[0]].title})`;

function showNumbers(traced, told) {
  const { sentences } = traced.trace;
  byId("nameless").hidden = !traced.names.some((name) => name.startsWith("["));
  byId("reading").replaceChildren(...(told === 0 ? [] : reading(traced.trace, told)));
  byId("changes").replaceChildren(...changes(traced, told));
  const arrows = told === 0 ? [] : [...sentences[told - 1].held].reverse();
  byId("count").textContent = arrows.length === 1 ? "1 arrow" : `${arrows.length} arrows`;
  byId("held").replaceChildren(...arrows.map((arrow) => held(traced, arrow)));
}

function reading({ unit, sentences, skipped }, told) {
  const { parts } = sentences[told - 1];
  return [`${unit === "word" ? "Word" : "Sentence"} ${skipped + told} is read as`, ...Object.entries(partMeanings()).flatMap(([part, meaning]) =>
    [html("i", { title: meaning }, ` ${part}`), ` ${parts[part].name.text || "–"}`])];
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
    html("td", { class: strength < 0 ? "figure negative" : "figure" }, percent(strength)),
    html("td", { class: "figure", title: trace.sentences[by].text },
      String(trace.skipped + by + 1)));
}

/** What the lines of the graph mean, for the operations that the model has. */
export function showLegend(used, unit) {
  const lines = used.map((name) =>
    [classOf(name), `${operations[name].title}: ${operations[name].meaning}`]);
  const shown = [
    ...lines,
    ["added", `+ added by this ${unit}`],
    ["removed", `− removed by this ${unit}`],
    ["opposite", "the opposite (a negative strength)"],
    ["path", "the path of the question: ? 1 2 3, where it goes from box to box"],
  ];
  byId("legend").replaceChildren(...shown.map(([kind, meaning]) => {
    const line = svg("path", { class: "line", d: "M2 8H34" });
    const end = svg("path", kind === "opposite" ? { class: "head bar", d: "M36 2v12" } : { class: "head", d: "M40 8l-8 -5v10z" });
    const sample = kind === "path" ? svg("path", { class: "path", d: "M8 8H34" }) : svg("g", { class: `arrow strong ${kind}` }, line, end);
    return html("li", {}, svg("svg", { width: 42, height: 16, "aria-hidden": "true" }, sample), meaning);
  }));
}
