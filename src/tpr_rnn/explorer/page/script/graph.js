// The memory as a graph: what it holds are arrows between entities.

import { percent, set, svg } from "./dom.js";
import { curve, layOut } from "./layout.js";
import { isNode } from "./likeness.js";
import { classOf, operations } from "./operations.js";

const LEAST = 0.15; // weaker changes are not drawn
// Where on its arrow the label of an operation stands, by the operation's place in the table: labels
// of neighbours must not lie upon each other.
const LABEL = {
  "": (place) => 0.3 + 0.14 * (place % 2),
  "+": (place) => 0.56 + 0.08 * place,
  "−": (place) => 0.42 + 0.08 * place,
};
const NAMED = 22; // letters of an arrow's name
const FEW = 8; // so many arrows have room for their names, more only when they are pointed at

/** Draw the memory of a trace after `told` sentences; at the end also the way of the question. */
export function createGraph(host) {
  const layers = Object.fromEntries(["way", "arrows", "nodes"].map((name) => [name, svg("g", { class: name })]));
  const picture = svg("svg", { role: "img" }, ...Object.values(layers));
  host.append(picture);
  const drawn = new Map();

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

  /** Show the arrows of one node alone; null: all. */
  function point(node) {
    picture.classList.toggle("pointed", node !== null);
    for (const arrow of layers.arrows.children) {
      arrow.classList.toggle("touching", arrow.dataset.ends.split(" ").includes(String(node)));
    }
  }

  return function draw(traced, told) {
    const { trace } = traced;
    const width = Math.max(300, host.clientWidth);
    const { places, height } = layOut(traced, width);
    set(picture, { viewBox: `0 0 ${width} ${height}`, height, "aria-label": described(traced, told) });
    const found = wayOf(trace, told);
    const ways = found.slice(1).map(({ node }, step) => [found[step].node, node])
      .filter(([from, to]) => from !== null && to !== null && from !== to);
    keep(layers.way, new Map(ways.map(([from, to]) =>
      [`way ${from} ${to}`, curve(places[from], places[to])])),
    () => svg("path", { class: "way" }),
    (element, { path }) => set(element, { d: path }));
    picture.classList.remove("pointed");
    const arrows = arrowsOf(traced, told, places);
    picture.classList.toggle("few", arrows.size <= FEW && width > 600);
    keep(layers.arrows, arrows, createArrow, updateArrow);
    keep(layers.nodes, new Map(places.map((place, node) => [`node ${node}`, {
      ...place,
      name: traced.names[node],
      steps: found.filter((step) => step.node === node).map(({ sign }) => sign),
      onPoint: (here) => point(here ? node : null),
      unborn: place.from >= told,
      told: told > 0 && trace.nodes[node].members.some(([sentence]) => sentence === told - 1),
    }])), createNode, updateNode);
  };
}

/**
 * The stops of the question's way at the end of a story, each with its sign: where it starts, and what
 * each step found. A mixture of nodes, of which none is the most, has no node.
 */
export function wayOf({ sentences, question }, told) {
  if (!question || told === 0 || told < sentences.length) return [];
  const { n } = question.parts;
  const likenesses = [{ ...n, node: n.group }, ...question.steps.map(({ retrieved }) => retrieved)];
  return likenesses.map((likeness, step) => {
    const opposite = isNode(likeness) && likeness.cosine < 0;
    return {
      sign: `${opposite ? "−" : ""}${step === 0 ? "?" : step}`,
      node: isNode(likeness) ? likeness.node : null,
    };
  });
}

/** The arrows by key: what is held, and what the last sentence took away and brought. */
function arrowsOf({ trace, names }, told, places) {
  const arrows = new Map();
  if (told === 0) return arrows;
  const { held, changes } = trace.sentences[told - 1];
  const put = (operation, source, relation, target, strength, sign, sentence) => {
    const name = trace.relations[relation].name.text;
    const ends = `${names[source]} ${names[target]}`.split(" ");
    const own = name.split(" ").filter((word) => !ends.includes(word)).join(" ");
    arrows.set(`${operation} ${source} ${target}`, {
      operation, strength, sign, source, target,
      ...curve(places[source], places[target], operation),
      number: `${sign}${trace.skipped + sentence + 1}`,
      name: own.length > NAMED ? `${own.slice(0, NAMED)}…` : own,
      title: `${names[source]} → ${names[target]}: ${percent(strength)}, by ${operations[operation].title}, sentence `
        + `${trace.skipped + sentence + 1}${name && ` (${name})`}`,
    });
  };
  for (const { operation, source, relation, target, strength, told_by: by } of held) {
    put(operation, source, relation, target, strength, "", by);
  }
  for (const { operation, source, relation, removed, added } of changes) {
    const same = removed.node === added.node;
    const net = added.strength - (same ? removed.strength : 0);
    if (!same && isNode(removed) && Math.abs(removed.strength) >= LEAST) {
      put(operation, source, relation, removed.node, removed.strength, "−", told - 1);
    }
    if (isNode(added) && Math.abs(net) >= LEAST) {
      put(operation, source, relation, added.node, added.strength, "+", told - 1);
    }
  }
  return arrows;
}

const createArrow = () =>
  svg("g", {}, svg("path", { class: "line" }), svg("path", { class: "head" }),
    svg("text", {}, svg("tspan"), svg("tspan", { class: "relation" })), svg("title"));

function updateArrow(element, arrow) {
  const { operation, strength, sign, source, target, path, tip, way, at, number, name, title } = arrow;
  const [line, head, text, tooltip] = element.children;
  const change = { "+": " added", "−": " removed" }[sign] ?? "";
  set(element, { class: `arrow ${classOf(operation)}${change}`, "data-ends": `${source} ${target}` });
  set(line, { d: path });
  line.style.setProperty("stroke-width", 1 + 2.4 * Math.min(Math.abs(strength), 1.5));
  const [x, y] = tip;
  // Less than nothing, the opposite of an entity, ends in a bar.
  set(head, { d: strength < 0
    ? `M${x - way * 7} ${y - 7}v14`
    : `M${x} ${y}l${-way * 9} -5v10z`, class: strength < 0 ? "head bar" : "head" });
  const [labelX, labelY] = at(LABEL[sign](operations[operation].place));
  set(text, { x: labelX, y: labelY + 4 });
  const [first, second] = text.children;
  first.textContent = number;
  second.textContent = name && ` ${name}`;
  tooltip.textContent = title;
}

const createNode = ({ onPoint }) => svg("g", {
  onpointerenter: () => onPoint(true), onpointerleave: () => onPoint(false),
},
  svg("rect", { rx: 10, height: 34, y: -17 }), svg("text", { y: 5 }), svg("g", { class: "steps" }), svg("title"));

function updateNode(element, { x, y, half, label, name, steps, unborn, told }) {
  const [box, text, badges, tooltip] = element.children;
  set(element, {
    class: ["node", unborn && "unborn", told && "told", steps.length && "found"].filter(Boolean).join(" "),
  });
  element.style.setProperty("transform", `translate(${x}px, ${y}px)`);
  set(box, { x: -half, width: 2 * half });
  text.textContent = label;
  tooltip.textContent = name;
  badges.replaceChildren(...steps.map((step, place) => svg("g", {
    class: "step", transform: `translate(${half - 6 - 21 * (steps.length - 1 - place)}, -17)`,
  }, svg("circle", { r: 10 }), Object.assign(svg("text", { y: 4 }), { textContent: step }))));
}

function described({ trace, names }, told) {
  if (told === 0) return "The memory is empty.";
  const arrows = trace.sentences[told - 1].held
    .map(({ source, target }) => `${names[source]} to ${names[target]}`);
  return `The memory after ${told} sentences: ${arrows.join(", ") || "nothing"}.`;
}
