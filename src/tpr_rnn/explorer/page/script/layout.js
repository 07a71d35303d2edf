// Where the nodes of the memory's graph stand: in two columns, so that most arrows lead from one to the
// other, and the path of a question goes to and fro. What the answer needs stands at the top, in the order in which its
// path meets it. The rest stands below it, smaller, each node near those that it is told with, so
// that few arrows cross. A node keeps its place from sentence to sentence.

import { pathOf } from "./arrows.js";

const ROUNDS = 6; // of putting nodes near their neighbours; more change nothing
const SIZES = [ // of the rest, by how many rows it has: letters and the room between boxes
  { rows: 4, size: 14, gap: 24 },
  { rows: 7, size: 14, gap: 16 },
  { rows: 12, size: 13, gap: 9 },
  { rows: Infinity, size: 12.5, gap: 4 },
];
const LARGE = { size: 15, gap: 20 };
const NARROW = 420; // of a phone
const EDGE = 18;
const FEW = 5; // nodes of a column whose orders are all tried

const pen = document.createElement("canvas").getContext("2d");

function letters(text, size) {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** The lines of a name in a box of this width; a word that is too long for it makes it wider. */
function wrap(name, size, width) {
  const lines = [];
  for (const word of name.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && letters(longer, size) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The boxes of a trace's nodes in a picture of this width; `needed`: the nodes of the answer. */
export function layOut({ trace, names }, width, needed) {
  const phone = width < NARROW;
  const near = neighbours(trace);
  const columns = sidesOf(trace.nodes, near, needed);
  const rest = columns.map((column) => column.filter((node) => !needed.includes(node)));
  const top = columns.map((column) => needed.filter((node) => column.includes(node)));
  uncross(top, near);
  untangle(rest, near);
  const rows = Math.max(...rest.map((column) => column.length));
  const small = SIZES.find((one) => rows <= one.rows);
  const loops = hasLoops(trace, columns) ? (phone ? 34 : 44) : 14; // room for arrows within a column
  const widest = Math.min(210, (width - 2 * loops - 80) / 2);
  const boxes = [];

  function box(node, side, { size }) {
    const lines = wrap(names[node], phone ? size - 1 : size, widest - 16);
    const half = Math.max(14, ...lines.map((line) => letters(line, phone ? size - 1 : size) / 2)) + 8;
    boxes[node] = {
      node, side, lines, half, size: phone ? size - 1 : size,
      tall: lines.length * (size + 3) + (size >= LARGE.size ? 14 : 6),
      x: side === 0 ? loops + half : width - loops - half,
      loops,
      from: Math.min(...trace.nodes[node].members.map(([sentence]) => sentence)),
    };
    return boxes[node];
  }

  let y = EDGE;
  const pairs = Math.max(top[0].length, top[1].length);
  for (let row = 0; row < pairs; row += 1) {
    const here = top.map((column, side) => column[row] !== undefined && box(column[row], side, LARGE))
      .filter(Boolean);
    const tall = Math.max(...here.map((one) => one.tall));
    for (const one of here) one.y = y + tall / 2;
    y += tall + LARGE.gap;
  }
  const below = rest.map((column, side) => column.map((node) => box(node, side, small)));
  const bottom = stack(below, y, small.gap, near);
  return { boxes: boxes.filter(Boolean), at: boxes, width, height: bottom + EDGE };
}

/**
 * The nodes of each column. One after the other, what the answer needs first, they go to the side
 * where fewer of those are that they are told with; else what sentences start from stands on the left.
 */
function sidesOf(nodes, near, needed) {
  const side = new Map();
  const left = [...new Set([...needed, ...nodes.keys()])];
  while (left.length) {
    const told = (node) => near[node].filter((other) => side.has(other));
    const next = needed.find((node) => !side.has(node))
      ?? left.reduce((best, node) => (told(node).length > told(best).length ? node : best));
    const others = told(next).map((other) => side.get(other));
    const onRight = others.filter((one) => one === 1).length;
    const starts = nodes[next].members.filter(([, part]) => part === "e1").length;
    side.set(next, 2 * onRight === others.length
      ? Number(2 * starts < nodes[next].members.length) : Number(2 * onRight < others.length));
    left.splice(left.indexOf(next), 1);
  }
  return [0, 1].map((column) => [...nodes.keys()].filter((node) => side.get(node) === column));
}

/** Whether a sentence, or the question's path, leads from a node to itself or to another one of its column. */
function hasLoops(trace, columns) {
  const stops = pathOf(trace);
  const legs = [
    ...trace.sentences.map(({ parts: { e1, e2 } }) => [e1.group, e2.group]),
    ...stops.slice(1).map((node, step) => [stops[step], node]).filter(([from, to]) => from !== to),
  ];
  return legs.some((ends) => columns.some((column) => ends.every((node) => column.includes(node))));
}

/** For each node those that it is told with. */
function neighbours({ nodes, sentences }) {
  const near = nodes.map(() => []);
  for (const { parts } of sentences) {
    const [one, other] = [parts.e1.group, parts.e2.group];
    if (one !== other) {
      near[one].push(other);
      near[other].push(one);
    }
  }
  return near;
}

/** Put the few nodes of the answer in that order, of all, in which the fewest of their arrows cross. */
function uncross(columns, near) {
  const [left, right] = columns;
  if (Math.max(left.length, right.length) > FEW) return;
  let least = Infinity;
  for (const one of orders(left)) {
    for (const other of orders(right)) {
      const count = crossings(one, other, near);
      if (count < least) [least, columns[0], columns[1]] = [count, one, other];
    }
  }
}

/** All orders of some items, their own first. */
const orders = (items) => (items.length < 2 ? [items] : items.flatMap((first, place) =>
  orders(items.filter((_, other) => other !== place)).map((rest) => [first, ...rest])));

function crossings(left, right, near) {
  const lines = left.flatMap((node, row) => near[node].map((other) => [row, right.indexOf(other)]))
    .filter(([, other]) => other >= 0);
  return lines.flatMap(([one, other], place) => lines.slice(place + 1)
    .filter(([row, column]) => (one - row) * (other - column) < 0)).length;
}

/** Sort both columns, in turn, by where the neighbours of their nodes stand on the average. */
function untangle(columns, near) {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [sorted, fixed] = [columns[(round + 1) % 2], columns[round % 2]];
    const rank = new Map(fixed.map((node, place) => [node, place / fixed.length]));
    const own = new Map(sorted.map((node, place) => [node, place / sorted.length]));
    const middle = new Map(sorted.map((node) => [node, mean(near[node].map((other) => rank.get(other)))
      ?? own.get(node)]));
    sorted.sort((one, other) => middle.get(one) - middle.get(other) || own.get(one) - own.get(other));
  }
}

function mean(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** Put the longer column in rows, the boxes of the other as near to their neighbours as there is room. */
function stack(columns, top, gap, near) {
  const tall = (column) => column.reduce((sum, one) => sum + one.tall + gap, 0);
  const [short, long] = tall(columns[0]) > tall(columns[1]) ? [columns[1], columns[0]] : columns;
  let y = top;
  for (const one of long) {
    one.y = y + one.tall / 2;
    y += one.tall + gap;
  }
  const places = new Map(long.map((one) => [one.node, one.y]));
  let least = top;
  for (const one of short) {
    const wish = mean(near[one.node].map((other) => places.get(other))) ?? 0;
    one.y = Math.max(least + one.tall / 2, wish);
    least = one.y + one.tall / 2 + gap;
  }
  let most = y;
  for (const one of [...short].reverse()) {
    one.y = Math.min(one.y, most - gap - one.tall / 2);
    most = one.y - one.tall / 2;
  }
  return y;
}
