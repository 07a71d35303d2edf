// Where the nodes of the memory's graph stand. A node keeps its place from sentence to sentence, and
// when sentences are added: places go by the order in which nodes are first told.

import { operations } from "./operations.js";

const ROW = 58;
const TOP = 34;
const LETTER = 8.2;
const SIDE = 28; // least room for arrows beside a column
const MARGIN = 16; // room for their numbers
const PORT = 9; // between the arrows of two operations, where they leave a node

/** Places for the nodes of a trace in a picture of this width. */
export function layOut(traced, width) {
  const { nodes } = traced.trace;
  const columns = [[], []];
  nodes.forEach(({ members }, node) => {
    const told = members.filter(([, part]) => part === "e1").length;
    columns[2 * told >= members.length ? 0 : 1].push(node);
  });
  const widest = Math.min(170, width / 2 - SIDE - 30);
  const edge = SIDE + Math.max(0, (width - 560) / 6);
  const places = [];
  const rows = Math.max(1, ...columns.map((column) => column.length));
  columns.forEach((column, side) => column.forEach((node, row) => {
    const letters = Math.floor((widest - 22) / LETTER);
    const name = traced.names[node];
    const label = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
    const half = (label.length * LETTER + 24) / 2;
    places[node] = {
      label, half, side, room: edge - MARGIN,
      x: side === 0 ? edge + half : width - edge - half,
      y: TOP + ROW * (row + (rows - column.length) / 2),
      from: Math.min(...nodes[node].members.map(([sentence]) => sentence)),
    };
  }));
  return { places, width, height: 2 * TOP + ROW * (rows - 1) };
}

/**
 * The curve of an arrow between two places: it leaves and arrives level, so that its head is level
 * too. Within a column it swings out to the side.
 */
export function curve(from, to, operation) {
  const middle = (Object.keys(operations).length - 1) / 2;
  const shift = operation ? PORT * (operations[operation].place - middle) : 0;
  const y1 = from.y + shift;
  let y2 = to.y + shift;
  if (from.side !== to.side) {
    const way = from.side === 0 ? 1 : -1;
    const x1 = from.x + way * from.half;
    const x2 = to.x - way * (to.half + 3);
    const reach = (x2 - x1) * 0.45;
    return points(x1, y1, x1 + reach, y1, x2 - reach, y2, x2, y2, way);
  }
  const out = from.side === 0 ? -1 : 1;
  if (from === to) y2 = to.y - shift - 10;
  const x1 = from.x + out * from.half;
  const x2 = to.x + out * (to.half + 3);
  // A curve goes three quarters of the way to where it is drawn.
  const far = Math.min(64, 22 + Math.abs(y2 - y1) / 5, from.room / 0.75) * out;
  const edge = out < 0 ? Math.min(x1, x2) : Math.max(x1, x2);
  return points(x1, y1, edge + far, y1, edge + far, y2, x2, y2, -out);
}

function points(x1, y1, x2, y2, x3, y3, x4, y4, way) {
  const at = (t, a, b, c, d) =>
    (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t ** 2 * (1 - t) * c + t ** 3 * d;
  return {
    path: `M${x1} ${y1}C${x2} ${y2} ${x3} ${y3} ${x4 - way * 7} ${y4}`,
    tip: [x4, y4],
    way,
    /** A point on it: 0 is its start, 1 its end. */
    at: (t) => [at(t, x1, x2, x3, x4), at(t, y1, y2, y3, y4)],
  };
}
