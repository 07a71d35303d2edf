// The arrows of the memory's graph, and which of them the answer needs.

import { percent } from "./dom.js";
import { isNode } from "./likeness.js";
import { operations } from "./operations.js";

const LEAST = 0.15; // weaker changes are not drawn

/**
 * The stops of the question's path: where it starts, and what each step found. A mixture of nodes, of
 * which none is the most, has no node.
 */
export function pathOf({ question }) {
  if (!question) return [];
  const { n } = question.parts;
  const likenesses = [{ ...n, node: n.group }, ...question.steps.map(({ retrieved }) => retrieved)];
  return likenesses.map((likeness) => (isNode(likeness) ? likeness.node : null));
}

/** What the answer of a trace needs: sentences, and nodes in the order in which the path meets them. */
export function neededOf({ sentences, question }) {
  if (!question || !sentences.length) return { sentences: new Set(), nodes: [] };
  const needed = question.basis.sentences;
  const told = needed.flatMap((sentence) => {
    const { e1, e2 } = sentences[sentence].parts;
    return [e1.group, e2.group];
  });
  return {
    sentences: new Set(needed),
    nodes: [...new Set([...pathOf({ question }).filter((node) => node !== null), ...told])],
  };
}

/**
 * The arrows after `told` sentences. `answering`: those that the answer needs are strong; otherwise
 * what the last sentence brought (+) and took away (−).
 */
export function arrowsOf({ trace, names }, told, needed, answering) {
  const arrows = new Map();
  if (told === 0) return [];
  const { held, changes } = trace.sentences[told - 1];
  const stops = pathOf(trace);
  const onPath = (one, other) => stops.some((stop, step) => step > 0
    && [[one, other], [other, one]].some(([from, to]) => stops[step - 1] === from && stop === to));
  const put = (operation, source, relation, target, strength, sign, sentence) => {
    const name = trace.relations[relation].name.text;
    const number = trace.skipped + sentence + 1;
    const told = needed.sentences.has(sentence)
      && needed.nodes.includes(source) && needed.nodes.includes(target);
    arrows.set(`${operation} ${source} ${target}`, {
      key: `${operation} ${source} ${target}`,
      operation, source, target, strength, sign, sentence,
      strong: answering ? told || onPath(source, target) : sign !== "",
      number: `${sign}${number}`,
      title: `${names[source]} → ${names[target]}: ${operations[operation].title}, `
        + `${percent(strength)}, ${trace.unit} ${number}${name && `, by “${name}”`}`,
    });
  };
  for (const { operation, source, relation, target, strength, told_by: by } of held) {
    put(operation, source, relation, target, strength, "", by);
  }
  if (answering) return [...arrows.values()];
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
  return [...arrows.values()];
}
