// What is pointed at: a sentence lights its arrows in the picture, an arrow or a box its sentences.

/**
 * One light for the whole page. What is lit is null, or `{ sentences, node, arrow }`: sentences of
 * the trace, and the box or the arrow that is pointed at, if it is one.
 */
export function createLight() {
  const listeners = [];
  let lit = null;
  return {
    set(what) {
      if (what === lit) return;
      lit = what;
      for (const listener of listeners) listener(lit);
    },
    now: () => lit,
    onChange(listener) { listeners.push(listener); },
  };
}

/** Listeners that light something while it is pointed at or has the focus; `what()` says what. */
export function lighting(light, what) {
  const on = () => light.set(what());
  const off = () => light.set(null);
  return { onpointerenter: on, onpointerleave: off, onfocus: on, onblur: off };
}
