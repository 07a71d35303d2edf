// Where the numbers of arrows stand: on their arrow, upon no box and no other number, and away from
// other arrows as far as that can be.

const TRIED = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8, 0.14, 0.86];
const POINTS = [...Array(21).keys()].map((step) => step / 20);
const TALL = 17;

/** Places for the numbers of arrows; arrows of one pair of boxes with one number share a label. */
export function placeLabels(arrows, curves, boxes, width) {
  const shared = new Map();
  for (const arrow of arrows) {
    const pair = [arrow.source, arrow.target].sort((one, other) => one - other);
    const label = `${pair} ${arrow.number}`;
    shared.set(label, [...(shared.get(label) ?? []), arrow]);
  }
  const taken = boxes.map(({ x, y, half, tall }) => ({ x, y, wide: 2 * half, tall }));
  const lines = arrows.map(({ key, source, target }) =>
    ({ pair: [source, target].sort().join(" "), points: POINTS.map(curves.get(key).at) }));
  return [...shared.values()].map((own) => {
    const [arrow] = own;
    const pair = [arrow.source, arrow.target].sort().join(" ");
    const wide = 8 * arrow.number.length + 9;
    const spots = own.flatMap(({ key }) => TRIED.map((t, rank) => {
      const [onCurve, y] = curves.get(key).at(t);
      const x = Math.max(wide / 2 + 1, Math.min(width - wide / 2 - 1, onCurve)); // seen whole
      const here = { x, y, wide, tall: TALL };
      const upon = taken.filter((other) => meet(here, other)).length;
      const crossed = lines.filter((line) => line.pair !== pair
        && line.points.some(([px, py]) => Math.abs(px - x) < wide / 2 + 2 && Math.abs(py - y) < TALL / 2 + 2));
      return { ...here, cost: 100 * upon + 4 * crossed.length + 0.3 * rank };
    }));
    const best = spots.reduce((least, spot) => (spot.cost < least.cost ? spot : least));
    taken.push(best);
    return { arrow, ...best };
  });
}

const meet = (one, other) => Math.abs(one.x - other.x) < (one.wide + other.wide) / 2 + 1
  && Math.abs(one.y - other.y) < (one.tall + other.tall) / 2 + 1;
