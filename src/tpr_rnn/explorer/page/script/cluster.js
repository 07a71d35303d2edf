// Puts sentences that are alike beside each other: average linkage of their cosines.

/** An order of the rows of a matrix of cosines in which the most similar ones are neighbours. */
export function clustered(cosines) {
  let clusters = cosines.map((_, row) => [row]);
  const likeness = cosines.map((line) => [...line]); // of two clusters, by their first members
  while (clusters.length > 1) {
    let best = [0, 1];
    let most = -Infinity;
    for (let one = 0; one < clusters.length; one += 1) {
      for (let other = one + 1; other < clusters.length; other += 1) {
        const alike = likeness[clusters[one][0]][clusters[other][0]];
        if (alike > most) [most, best] = [alike, [one, other]];
      }
    }
    const [first, second] = best.map((place) => clusters[place]);
    for (const [third] of clusters) {
      const [with1, with2] = [likeness[first[0]][third], likeness[second[0]][third]];
      const mean = (first.length * with1 + second.length * with2) / (first.length + second.length);
      likeness[first[0]][third] = mean;
      likeness[third][first[0]] = mean;
    }
    clusters = [...clusters.filter((_, place) => !best.includes(place)), joined(first, second, cosines)];
    clusters.sort((one, other) => Math.min(...one) - Math.min(...other));
  }
  return clusters[0] ?? [];
}

/** Two clusters end to end, turned so that the ends that meet are the most alike; the first stays first in the table of likenesses. */
function joined(first, second, cosines) {
  const ends = [[first, second], [first, [...second].reverse()]];
  const [before, after] = ends.reduce((best, pair) => (meeting(pair, cosines) > meeting(best, cosines) ? pair : best));
  return [...before, ...after];
}

const meeting = ([before, after], cosines) => cosines[before.at(-1)][after[0]];
