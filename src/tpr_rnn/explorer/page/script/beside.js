// Two models side by side on the same story: this one, and the same with fewer operations of the
// memory, or another one.

import { bar, plain } from "./answer.js";
import { call } from "./api.js";
import { byId, html, probability, set } from "./dom.js";
import { createGraph } from "./graph.js";
import { classOf, operations, switchedOff, withNeeds } from "./operations.js";

const SHOWN = 0.01;

/** What is beside this model, as far as it can be; without a wish, the same without an operation. */
export function choice(model, other, off) {
  const models = [{ name: "", operations: model.operations }, ...model.beside];
  const { name, operations: used } = models.find((one) => one.name === other) ?? models[0];
  return { name, used, off: switchedOff(off ?? (name ? [] : used.slice(-2, -1)), used) ?? [] };
}

/** The view; `onChoose(other, off)` when another model, or other operations, are chosen. */
export function createBeside(model, onChoose, light) {
  const models = [{ name: "", operations: model.operations }, ...model.beside];
  const sides = ["this-side", "other-side"].map((id) => createSide(byId(id), light));
  byId("other").append(...models.map(({ name }) =>
    html("option", { value: name }, name || `${model.name}, with fewer operations`)));
  byId("others").hidden = models.length < 2;
  byId("other").addEventListener("change", () => onChoose(byId("other").value, null));
  let asked = { key: null, stop: new AbortController() };
  let chosen = { used: model.operations, off: [] };
  const switches = {};
  for (const name of Object.keys(operations)) {
    const { title, purpose } = operations[name];
    const box = html("input", { type: "checkbox", onchange: () => turn(name, box.checked) });
    switches[name] = { box, label: html("label", { class: classOf(name) }, box,
      html("span", {}, html("b", {}, title), html("small", {}, purpose))) };
    byId("operations").append(switches[name].label);
  }

  /** Switch an operation, as far as that can be; switched on, it brings back what it needs. */
  function turn(operation, on) {
    const { used, off } = chosen;
    const back = withNeeds(operation);
    const now = on ? off.filter((name) => !back.includes(name)) : [...off, operation];
    onChoose(byId("other").value, switchedOff(now, used) ?? off);
  }

  function showSwitches({ used, off }) {
    for (const [name, { box, label }] of Object.entries(switches)) {
      label.hidden = !used.includes(name);
      box.checked = used.includes(name) && !off.includes(name);
      const last = box.checked && !switchedOff([...off, name], used);
      set(box, { disabled: last, title: last ? "One operation must stay on" : null });
    }
  }

  return async function show(traced, { story, question, kinds }, other, off) {
    chosen = choice(model, other, off);
    const { name, used, off: without } = chosen;
    byId("other").value = name;
    showSwitches(chosen);
    const wish = { story, question, kinds, model: name, operations: used.filter((one) => !without.includes(one)) };
    const key = JSON.stringify(wish);
    sides[0](traced, model.name);
    if (key === asked.key) return;
    asked.stop.abort();
    asked = { key, stop: new AbortController() };
    try {
      const found = await call("/api/trace", wish, asked.stop.signal);
      const titles = without.map((one) => operations[one].title);
      const called = `${name || model.name}${titles.length ? ` without ${titles.join(" and ")}` : ""}`;
      sides[1](found, called);
      byId("difference").textContent = differ(traced, found, called);
    } catch (error) {
      if (error.name === "AbortError") return;
      asked.key = null;
      byId("difference").textContent = error.message;
    }
  };
}

function differ({ trace: one }, { trace: other }, called) {
  if (!one.question) return "Ask a question to compare two answers.";
  const [[first], [second]] = [one.question.answers, other.question.answers];
  return first.word === second.word
    ? `Both answer “${first.word}”.`
    : `The answer is “${first.word}”; ${called} says “${second.word}”.`;
}

/** One side: its answer, what that rests on, and its memory. */
function createSide(host, light) {
  const title = html("h3", {});
  const verdict = html("p", { class: "verdict" });
  const short = html("p", { class: "short" });
  const guesses = html("ol", { class: "guesses" });
  const graph = html("div", { class: "graph" });
  host.append(title, verdict, short, guesses, graph);
  const draw = createGraph(graph, light);
  let last = null;
  new ResizeObserver(() => last && draw(last, last.trace.sentences.length)).observe(graph);
  return (traced, called) => {
    last = traced;
    const { trace, why } = traced;
    const likely = trace.question?.answers.filter(({ probability: share }, place) => !place || share >= SHOWN) ?? [];
    title.textContent = called;
    verdict.replaceChildren(...(likely.length
      ? [html("strong", {}, likely[0].word), ` ${probability(likely[0].probability)}`] : []));
    short.replaceChildren(...(why ? plain(why.short, trace, light) : []));
    guesses.replaceChildren(...(likely.length > 1 ? likely : []).map((guess) => bar(guess, null)));
    draw(traced, trace.sentences.length);
  };
}
