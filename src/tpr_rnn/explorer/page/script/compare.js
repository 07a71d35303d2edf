// The similarity of the story's sentences by one of their representations: a matrix whose rows are in
// such an order that what is alike stands together.

import { clustered } from "./cluster.js";
import { byId, html, set } from "./dom.js";
import { operations } from "./operations.js";

const CELL = { least: 11, worded: 15, most: 36 }; // its width; with words from `worded` on
const ROOM = { words: 300, numbers: 44 }; // for the labels of rows

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

/** The view; `onPart(part)` when another representation is chosen. */
export function createCompare(onPart, light) {
  const radios = {};
  for (const [part, meaning] of Object.entries(partMeanings())) {
    radios[part] = html("input", { type: "radio", name: "part", onchange: () => onPart(part) });
    byId("parts").append(html("label", { title: meaning }, radios[part], html("span", {}, part)));
  }
  const canvas = html("canvas", { tabindex: 0, role: "img", "aria-describedby": "pair" });
  const rows = html("ol", { class: "rows", "aria-hidden": "true" });
  const columns = html("ol", { class: "columns", "aria-hidden": "true" });
  byId("matrix").append(html("span", {}), columns, rows, canvas);
  let shown = null; // the trace, the part, the order of the sentences, the pair and whether it stays

  /** Name the pair in a row and a column of the matrix; `stays`: until another one is chosen. */
  function point(row, column, stays) {
    const last = shown.order.length - 1;
    const within = (place) => Math.max(0, Math.min(last, place));
    Object.assign(shown, { pair: [within(row), within(column)], stays });
    refresh();
  }

  function refresh() {
    const { order, pair, stays } = shown;
    paint(canvas, shown);
    byId("pair").replaceChildren(...inWords(shown));
    byId("pair").classList.toggle("stays", Boolean(pair && stays));
    for (const [list, place] of [[rows, pair?.[0]], [columns, pair?.[1]]]) {
      [...list.children].forEach((label, other) => label.classList.toggle("pointed", place === other));
    }
    light.set(pair ? { sentences: pair.map((place) => order[place]) } : null);
  }

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const cells = shown.order.length;
    return [Math.floor(((event.clientY - box.top) / box.height) * cells),
      Math.floor(((event.clientX - box.left) / box.width) * cells)];
  }
  canvas.addEventListener("pointermove", (event) => shown && !shown.stays && point(...cellAt(event), false));
  canvas.addEventListener("pointerleave", () => {
    if (!shown || shown.stays) return;
    shown.pair = null;
    refresh();
  });
  canvas.addEventListener("click", (event) => {
    if (!shown) return;
    const [row, column] = cellAt(event);
    const again = shown.stays && shown.pair[0] === row && shown.pair[1] === column;
    point(row, column, !again);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !shown) return;
    const [row, column] = shown.pair ?? [0, 0];
    point(row + step[0], column + step[1], true);
    event.preventDefault();
  });
  const again = () => shown && paint(canvas, shown);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(() => shown && size()).observe(byId("matrix"));

  /** Make the cells as large as there is room. */
  function size() {
    const cells = shown.order.length;
    const width = byId("matrix").clientWidth;
    const worded = (width - ROOM.words) / cells >= CELL.worded;
    const room = width - (worded ? ROOM.words : ROOM.numbers);
    const cell = Math.max(CELL.least, Math.min(CELL.most, Math.floor(room / cells)));
    byId("matrix").style.setProperty("--cell", `${cell}px`);
    byId("matrix").style.setProperty("--cells", cells);
    byId("matrix").classList.toggle("narrow", !worded);
    paint(canvas, shown);
  }

  return function show({ trace }, part) {
    radios[part].checked = true;
    if (shown?.trace === trace && shown.part === part) return;
    const { sentences, skipped, similarity } = trace;
    const kept = shown?.trace === trace ? shown.pair?.map((place) => shown.order[place]) : null;
    const order = clustered(similarity[part]);
    shown = sentences.length ? {
      trace, part, order, stays: shown?.stays, pair: kept?.map((sentence) => order.indexOf(sentence)) ?? null,
    } : null;
    byId("matrix").hidden = !shown;
    if (!shown) {
      byId("pair").textContent = "Write a story to compare its sentences.";
      return;
    }
    set(canvas, { "aria-label": `Similarity of ${sentences.length} ${trace.unit}s by ${part}; arrow keys name a pair` });
    rows.replaceChildren(...order.map((sentence) =>
      html("li", {}, html("b", {}, String(skipped + sentence + 1)), html("span", {}, ` ${sentences[sentence].text}`))));
    columns.replaceChildren(...order.map((sentence) => html("li", {}, String(skipped + sentence + 1))));
    size();
    refresh();
  };
}

/** A pair of sentences with their cosine, or what to do to see one. */
function inWords({ trace, part, order, pair }) {
  if (!pair) return [`${partMeanings()[part]}. Point at a cell, click it to keep it, or use the arrow keys.`];
  const [one, other] = pair.map((place) => order[place]);
  const say = (sentence) => html("span", { class: "side" },
    html("b", {}, String(trace.skipped + sentence + 1)), ` ${trace.sentences[sentence].text}`);
  const cosine = trace.similarity[part][one][other];
  return [html("strong", { class: cosine < 0 ? "negative" : null }, cosine.toFixed(2).replace("-", "−")),
    say(one), say(other)];
}

function paint(canvas, { trace, part, order, pair }) {
  const cells = order.length;
  const size = Math.round(canvas.clientWidth * devicePixelRatio);
  if (!size) return;
  canvas.width = size;
  canvas.height = size;
  const style = getComputedStyle(canvas);
  const [alike, none, opposite] = ["--alike", "--none", "--opposite"]
    .map((colour) => style.getPropertyValue(colour).trim().split(" ").map(Number));
  const pen = canvas.getContext("2d");
  const cell = size / cells;
  order.forEach((one, row) => order.forEach((other, column) => {
    const cosine = trace.similarity[part][one][other];
    const end = cosine < 0 ? opposite : alike;
    const mixed = none.map((colour, place) => colour + Math.abs(cosine) * (end[place] - colour));
    pen.fillStyle = `rgb(${mixed.join(" ")})`;
    pen.fillRect(column * cell, row * cell, cell - devicePixelRatio, cell - devicePixelRatio);
  }));
  if (pair) {
    pen.strokeStyle = style.color;
    pen.lineWidth = 2 * devicePixelRatio;
    pen.strokeRect(pair[1] * cell, pair[0] * cell, cell, cell);
  }
}
