// Saves what is shown: the picture, the trace, the story.

import { byId, set, svg } from "./dom.js";

const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size",
  "font-weight", "font-family", "text-anchor", "display", "color"];
const SCALE = 2; // pixels of a PNG for one of the page
const MARGIN = 12;

/** `traced()` is what is shown; `told()` the story with its question. */
export function createSaving(traced, told) {
  const menu = byId("save");
  const on = (id, action) => byId(id).addEventListener("click", async () => {
    menu.open = false;
    if (traced()) await action();
  });
  on("save-svg", () => save("memory.svg", new Blob([pictureOf()], { type: "image/svg+xml" })));
  on("save-png", async () => save("memory.png", await painted(pictureOf())));
  on("save-json", () => save("trace.json",
    new Blob([`${JSON.stringify(traced().trace, null, 1)}\n`], { type: "application/json" })));
  on("save-babi", () => save("story.txt", new Blob([asBabi(told(), traced().trace)], { type: "text/plain" })));
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The graph as an SVG file of its own: what the style sheets say is written into it. */
function pictureOf() {
  const shown = byId("graph").querySelector("svg");
  const copy = shown.cloneNode(true);
  const originals = [...shown.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of ["style", "tabindex", "class", "role"]) element.removeAttribute(name);
    for (const name of STYLED) element.setAttribute(name, style.getPropertyValue(name));
    const moved = style.getPropertyValue("transform");
    if (moved !== "none") element.setAttribute("transform", moved);
  });
  for (const near of copy.querySelectorAll("[data-near]")) near.remove();
  const { width, height } = shown.viewBox.baseVal;
  const all = { x: -MARGIN, y: -MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN };
  copy.prepend(svg("rect", { ...all, fill: getComputedStyle(byId("views")).backgroundColor }));
  set(copy, { width: all.width, height: all.height, viewBox: Object.values(all).join(" "), class: null });
  return new XMLSerializer().serializeToString(copy);
}

/** An SVG as PNG. */
async function painted(picture) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * SCALE;
  canvas.height = image.height * SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

/**
 * The story as a file of the bAbI format. Where the correct answer is not known, the model's stands
 * there, with the sentences that it rests on.
 */
function asBabi({ sentences, question, known }, { question: asked, sentences: steps }) {
  const lines = sentences.map((text, place) => `${place + 1} ${text}`);
  if (question && asked) {
    const answer = known?.answer ?? asked.answers[0].word;
    const supports = known?.supports ?? [...new Set(asked.basis.sentences.map((step) => steps[step].line))];
    lines.push([`${lines.length + 1} ${question}`, answer, supports.map((place) => place + 1).join(" ")].join("\t"));
  }
  return `${lines.join("\n")}\n`;
}
