// The similarity of the story's sentences, as a matrix of one of their representations.

import { byId, html } from "./dom.js";
import { operations } from "./operations.js";

/** The representations to compare, with what they mean. */
export function partMeanings() {
  const parts = {
    e1: "e1, the entity that a sentence starts from",
    e2: "e2, the entity that it leads to",
  };
  for (const { title, relations } of Object.values(operations)) {
    for (const part of relations) parts[part] ??= `${part}, the relation of ${title}`;
  }
  return parts;
}

const LABELLED = 40; // more sentences than this have no room for their words

/** The view; `onPart(part)` when another representation is chosen. */
export function createCompare(onPart) {
  const radios = {};
  for (const [part, meaning] of Object.entries(partMeanings())) {
    radios[part] = html("input", { type: "radio", name: "part", onchange: () => onPart(part) });
    byId("parts").append(html("label", { title: meaning }, radios[part], html("span", {}, part)));
  }
  const canvas = html("canvas", { tabindex: 0, role: "img", "aria-describedby": "pair" });
  const labels = html("ol", { "aria-hidden": "true" });
  byId("matrix").append(labels, canvas);
  let shown = null; // the trace, the part, and the pair that is pointed at

  function point(row, column) {
    if (!shown) return;
    const last = shown.trace.sentences.length - 1;
    const within = (place) => Math.max(0, Math.min(last, place));
    shown.pair = [within(row), within(column)];
    paint(canvas, shown);
    name(shown);
    [...labels.children].forEach((label, place) =>
      label.classList.toggle("pointed", shown.pair.includes(place)));
  }
  canvas.addEventListener("pointermove", (event) => {
    if (!shown) return;
    const box = canvas.getBoundingClientRect();
    const cells = shown.trace.sentences.length;
    point(Math.floor(((event.clientY - box.top) / box.height) * cells),
      Math.floor(((event.clientX - box.left) / box.width) * cells));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !shown) return;
    const [row, column] = shown.pair ?? [0, 0];
    point(row + step[0], column + step[1]);
    event.preventDefault();
  });
  const again = () => shown && paint(canvas, shown);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(again).observe(canvas);

  return function show({ trace }, part) {
    radios[part].checked = true;
    const same = shown && shown.trace === trace;
    shown = trace.sentences.length ? { trace, part, pair: same ? shown.pair : null } : null;
    canvas.hidden = !shown;
    labels.replaceChildren();
    if (!shown) {
      byId("pair").textContent = "Write a story to compare its sentences.";
      return;
    }
    canvas.setAttribute("aria-label",
      `Similarity of ${trace.sentences.length} sentences by ${part}; arrow keys name a pair`);
    if (trace.sentences.length <= LABELLED) {
      labels.append(...trace.sentences.map(({ text }, place) =>
        html("li", {}, html("b", {}, String(trace.skipped + place + 1)), ` ${text}`)));
    }
    labels.style.setProperty("--rows", trace.sentences.length);
    paint(canvas, shown);
    if (shown.pair) name(shown);
    else byId("pair").textContent = `${partMeanings()[part]}. Point at a cell, or use the arrow keys.`;
  };
}

function name({ trace, part, pair: [row, column] }) {
  const say = (place) => `${trace.skipped + place + 1} “${trace.sentences[place].text}”`;
  const cosine = trace.similarity[part][row][column].toFixed(2).replace("-", "−");
  byId("pair").replaceChildren(html("b", {}, cosine), ` between ${say(row)} and ${say(column)}`);
}

function paint(canvas, { trace, part, pair }) {
  const cells = trace.sentences.length;
  const size = Math.round(canvas.clientWidth * devicePixelRatio);
  if (!size) return;
  canvas.width = size;
  canvas.height = size;
  const style = getComputedStyle(canvas);
  const [alike, none, opposite] = ["--alike", "--none", "--opposite"]
    .map((colour) => style.getPropertyValue(colour).trim().split(" ").map(Number));
  const pen = canvas.getContext("2d");
  const cell = size / cells;
  const gap = cell > 12 * devicePixelRatio ? devicePixelRatio : 0;
  trace.similarity[part].forEach((line, row) => line.forEach((cosine, column) => {
    const end = cosine < 0 ? opposite : alike;
    const mixed = none.map((colour, place) => colour + Math.abs(cosine) * (end[place] - colour));
    pen.fillStyle = `rgb(${mixed.join(" ")})`;
    pen.fillRect(column * cell, row * cell, cell - gap + 0.5 * !gap, cell - gap + 0.5 * !gap);
  }));
  if (pair) {
    pen.strokeStyle = style.color;
    pen.lineWidth = 2 * devicePixelRatio;
    pen.strokeRect(pair[1] * cell, pair[0] * cell, cell, cell);
  }
}
