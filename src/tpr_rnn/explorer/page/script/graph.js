// The memory as a graph: what it holds are arrows between entities.

import { arrowsOf, neededOf, pathOf } from "./arrows.js";
import { set, svg } from "./dom.js";
import { placeLabels } from "./labels.js";
import { layOut } from "./layout.js";
import { lighting } from "./light.js";
import { classOf } from "./operations.js";
import { path, route } from "./route.js";

const FEW = 9; // so many arrows have room for all of their numbers

/** A picture of a memory in `host`; what is pointed at goes to `light`, and comes from there. */
export function createGraph(host, light) {
  const layers = Object.fromEntries(["paths", "arrows", "labels", "nodes"].map((name) =>
    [name, svg("g", { class: name })]));
  const picture = svg("svg", { role: "group" }, ...Object.values(layers));
  host.append(picture);
  const drawn = new Map();
  let shown = { arrows: [], curves: new Map(), boxes: [], trace: null };

  /** Reuse what is drawn already, so that it moves and fades rather than jumps. */
  function keep(layer, wanted, create, update) {
    for (const [key, element] of drawn) {
      if (element.parentNode === layer && !wanted.has(key)) {
        element.remove();
        drawn.delete(key);
      }
    }
    for (const [key, what] of wanted) {
      if (!drawn.has(key)) {
        drawn.set(key, create(what));
        layer.append(drawn.get(key));
      }
      update(drawn.get(key), what);
    }
  }

  function createArrow({ key }) {
    const sentences = () => shown.arrows.filter((arrow) => arrow.key === key).map(({ sentence }) => sentence);
    return svg("g", {
      tabindex: -1, role: "img", ...lighting(light, () => ({ arrow: key, sentences: sentences() })),
    }, svg("path", { class: "near", "data-near": "" }), svg("path", { class: "line" }), svg("path", { class: "head" }), svg("title"));
  }

  function createNode({ node }) {
    const sentences = () => [...new Set(shown.trace.nodes[node].members.map(([sentence]) => sentence))];
    return svg("g", {
      tabindex: -1, role: "img", ...lighting(light, () => ({ node, sentences: sentences() })),
    }, svg("rect", { rx: 8 }), svg("text"), svg("g", { class: "steps" }), svg("title"));
  }

  function number(arrows) {
    layers.labels.replaceChildren(...placeLabels(arrows, shown.curves, shown.boxes, shown.width).map(drawLabel));
  }

  /** Light what belongs to a sentence, an arrow or a node; null: nothing. */
  function lit(what) {
    const { arrows, trace } = shown;
    if (!trace) return;
    const isOn = ({ key, source, target, sentence }) => (what.arrow
      ? what.arrow === key
      : what.node === undefined ? what.sentences.includes(sentence) : [source, target].includes(what.node));
    const on = what ? arrows.filter(isOn) : [];
    const ends = new Set(on.flatMap(({ source, target }) => [source, target]));
    if (what?.node !== undefined) ends.add(what.node);
    if (what && !what.arrow && what.node === undefined) {
      for (const sentence of what.sentences) {
        ends.add(trace.sentences[sentence]?.parts.e1.group).add(trace.sentences[sentence]?.parts.e2.group);
      }
    }
    picture.classList.toggle("lit", what !== null);
    for (const { key } of arrows) drawn.get(key).classList.toggle("on", on.some((one) => one.key === key));
    for (const { node } of shown.boxes) drawn.get(`node ${node}`).classList.toggle("on", ends.has(node));
    const few = !shown.answering && arrows.length <= FEW;
    number(what ? on : arrows.filter(({ strong }) => strong || few));
  }
  light.onChange(lit);
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [...layers.nodes.children, ...layers.arrows.children];
    const next = stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length];
    for (const stop of stops) set(stop, { tabindex: stop === next ? 0 : -1 });
    next.focus();
    event.preventDefault();
  });

  /** Draw the memory after `told` sentences; at the end also the question's path, `steps` far. */
  return function draw(traced, told, steps = Infinity) {
    const { trace, names } = traced;
    const width = Math.max(280, host.clientWidth);
    const needed = neededOf(trace);
    const answering = trace.question !== null && told > 0 && told === trace.sentences.length;
    const { boxes, at, height } = layOut(traced, width, needed.nodes);
    const arrows = arrowsOf(traced, told, needed, answering);
    const curves = route(arrows, at);
    const again = shown.trace === trace; // the light stays on what is still there
    shown = { arrows, curves, boxes, width, answering, trace };
    set(picture, {
      viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": described(traced, told),
      class: answering ? "answering" : "changing",
    });
    const stops = answering ? pathOf(trace).slice(0, steps + 1) : [];
    const legs = stops.slice(1).map((node, step) => [stops[step], node])
      .filter(([from, to]) => from !== null && to !== null && from !== to);
    keep(layers.paths, new Map(legs.map(([from, to]) => [`path ${from} ${to}`, path(at[from], at[to])])),
      () => svg("path", { class: "path" }), (element, { line }) => set(element, { d: line }));
    keep(layers.arrows, new Map(arrows.map((arrow) => [arrow.key, { ...arrow, ...curves.get(arrow.key) }])),
      createArrow, updateArrow);
    keep(layers.nodes, new Map(boxes.map((box) => [`node ${box.node}`, {
      ...box,
      name: names[box.node],
      steps: stops.flatMap((node, step) => (node === box.node ? [step === 0 ? "?" : step] : [])),
      needed: answering && needed.nodes.includes(box.node),
      unborn: box.from >= told,
      told: !answering && told > 0
        && trace.nodes[box.node].members.some(([sentence]) => sentence === told - 1),
    }])), createNode, updateNode);
    const stop = picture.querySelector("[tabindex='0']") ?? layers.nodes.firstChild;
    if (stop) set(stop, { tabindex: 0 });
    lit(again ? light.now() : null);
    bringIntoView(host, boxes.filter(({ node }) => drawn.get(`node ${node}`).matches(".told")));
  };
}

/** Scroll to what a sentence tells, where the picture is taller than its frame. */
function bringIntoView(host, told) {
  if (host.scrollHeight <= host.clientHeight) return;
  const top = Math.min(...told.map(({ y, tall }) => y - tall), Infinity);
  host.scrollTop = Number.isFinite(top) ? Math.max(0, top - host.clientHeight / 3) : 0;
}

function updateArrow(element, { operation, strength, sign, strong, line, tip: [x, y], side, title }) {
  const [near, body, head, tooltip] = element.children;
  const change = { "+": " added", "−": " removed" }[sign] ?? "";
  set(element, {
    class: `arrow ${classOf(operation)}${change}${strong ? " strong" : ""}`, "aria-label": title,
  });
  set(near, { d: line });
  set(body, { d: line });
  body.style.setProperty("--weight", Math.min(Math.abs(strength), 1.5));
  // Less than nothing, the opposite of an entity, ends in a bar.
  set(head, { d: strength < 0
    ? `M${x + side * 6} ${y - 6}v12`
    : `M${x} ${y}l${side * 8} -4.5v9z`, class: strength < 0 ? "head bar" : "head" });
  tooltip.textContent = title;
}

function drawLabel({ arrow, x, y, wide, tall }) {
  const change = { "+": " added", "−": " removed" }[arrow.sign] ?? "";
  return svg("g", {
    class: `label ${classOf(arrow.operation)}${change}`, transform: `translate(${x}, ${y})`, "aria-hidden": "true",
  }, svg("rect", { x: -wide / 2, y: -tall / 2, width: wide, height: tall, rx: tall / 2 }),
  Object.assign(svg("text", { y: 4 }), { textContent: arrow.number }));
}

function updateNode(element, { x, y, half, tall, size, lines, name, steps, needed, unborn, told }) {
  const [box, text, badges, tooltip] = element.children;
  set(element, {
    class: ["node", unborn && "unborn", told && "told", needed && "needed", steps.length && "found"]
      .filter(Boolean).join(" "),
    "aria-label": name,
  });
  element.style.setProperty("transform", `translate(${x}px, ${y}px)`);
  set(box, { x: -half, y: -tall / 2, width: 2 * half, height: tall });
  text.style.setProperty("font-size", `${size}px`);
  text.replaceChildren(...lines.map((line, place) => Object.assign(svg("tspan", {
    x: 0, y: (place - (lines.length - 1) / 2) * (size + 3) + 0.35 * size,
  }), { textContent: line })));
  tooltip.textContent = name;
  badges.replaceChildren(...steps.map((step, place) => svg("g", {
    class: "step", transform: `translate(${half - 4 - 20 * (steps.length - 1 - place)}, ${-tall / 2 - 3})`,
  }, svg("circle", { r: 9 }), Object.assign(svg("text", { y: 4 }), { textContent: step }))));
}

function described({ trace, names }, told) {
  if (told === 0) return "The memory is empty.";
  const arrows = trace.sentences[told - 1].held
    .map(({ source, target }) => `${names[source]} to ${names[target]}`);
  return `The memory after ${told} ${trace.unit}s: ${arrows.join(", ") || "nothing"}.`;
}
