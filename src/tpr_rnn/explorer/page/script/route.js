// How arrows run between boxes: each leaves and arrives level, at a place of its own on the side of
// the box, in the order of where it goes, so that it can be followed.

const BETWEEN = 6; // most room between two arrows at a box
const ROOM = 8; // of the side of a box, that is left at its corners
const HEAD = 8;

/** The curve of every arrow, by its key. */
export function route(arrows, boxes) {
  const ends = arrows.flatMap((arrow, place) => {
    const [from, to] = [boxes[arrow.source], boxes[arrow.target]];
    const within = from.side === to.side;
    const side = (box) => (within ? box.side * 2 - 1 : 1 - box.side * 2); // −1 is left, 1 right
    return [
      { arrow, place, first: true, box: from, other: to, side: side(from) },
      { arrow, place, first: false, box: to, other: from, side: side(to) },
    ];
  });
  const ports = new Map();
  for (const end of ends) {
    const side = `${end.box.node} ${end.side}`;
    ports.set(side, [...(ports.get(side) ?? []), end]);
  }
  for (const side of ports.values()) {
    side.sort((one, other) => one.other.y - other.other.y || one.place - other.place);
    const { box } = side[0];
    const step = Math.min(BETWEEN, (box.tall - ROOM) / Math.max(1, side.length - 1));
    side.forEach((end, place) => {
      end.x = box.x + end.side * box.half;
      end.y = box.y + step * (place - (side.length - 1) / 2);
    });
  }
  return new Map(arrows.map((arrow, place) =>
    [arrow.key, between(ends[2 * place], ends[2 * place + 1])]));
}

/** The curve between the middles of two boxes, for the path of a question. */
export function path(from, to) {
  const within = from.side === to.side;
  const end = (box) => {
    const side = within ? box.side * 2 - 1 : 1 - box.side * 2;
    return { box, other: box === from ? to : from, side, x: box.x + side * box.half, y: box.y };
  };
  return between(end(from), end(to));
}

function between(start, end) {
  const x4 = end.x + end.side * 2;
  let reach = Math.abs(x4 - start.x) * 0.45;
  let [x2, x3] = [start.x + start.side * reach, x4 + end.side * reach];
  let y4 = end.y;
  if (start.side === end.side) { // within a column it swings out to the side
    const edge = start.side < 0 ? Math.min(start.x, x4) : Math.max(start.x, x4);
    // A curve goes three quarters of the way to where it is drawn.
    reach = Math.min(20 + Math.abs(y4 - start.y) / 6, (start.box.loops - 4) / 0.75);
    x2 = edge + start.side * reach;
    x3 = x2;
  }
  let [y2, y3] = [start.y, y4];
  if (start.box === end.box) { // a loop opens upwards and downwards
    const half = Math.max(5, Math.abs(y4 - start.y) / 2);
    const middle = (start.y + y4) / 2;
    [start.y, y4] = [middle - half, middle + half];
    [y2, y3] = [start.y - 14, y4 + 14];
  }
  const at = (t, a, b, c, d) =>
    (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t ** 2 * (1 - t) * c + t ** 3 * d;
  return {
    line: `M${start.x} ${start.y}C${x2} ${y2} ${x3} ${y3} ${x4 + end.side * (HEAD - 2)} ${y4}`,
    tip: [x4, y4],
    side: end.side,
    /** A point on it: 0 is its start, 1 its end. */
    at: (t) => [at(t, start.x, x2, x3, x4), at(t, start.y, y2, y3, y4)],
  };
}
