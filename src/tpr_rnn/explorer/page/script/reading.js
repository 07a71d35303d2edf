// What the model makes of the story and the question, read again a moment after each change.

import { call } from "./api.js";

const PAUSE = 120; // milliseconds without a key before what was typed is read
const PATIENCE = 1000; // the same before a word that may only be half written counts as unknown

/**
 * `wanted()` is what is to be read: story, question, kinds, and known supports. `onChange(error)` is called when it has
 * been, or could not be.
 */
export function createReading(model, wanted, onChange) {
  // `traced` is of what `key` says; `unknown` and `fresh` words and `fitting` questions are of the last text.
  const found = { traced: null, key: null, unknown: [], fresh: [], fitting: [] };
  let waiting;
  let current = { key: null, stop: new AbortController() };

  async function read() {
    const wish = wanted();
    const key = JSON.stringify(wish);
    if (key === current.key) return;
    current.stop.abort();
    current = { key, stop: new AbortController() };
    const { signal } = current.stop;
    const ask = (address, body) => call(address, body, signal);
    try {
      const { story, question, kinds } = wish;
      const { unknown, new_words: fresh } = await ask("/api/check", { story, question, kinds });
      if (unknown.some(isBegun)) await new Promise((done) => { setTimeout(done, PATIENCE); });
      if (signal.aborted) return;
      Object.assign(found, { unknown, fresh });
      if (!unknown.length) {
        const traced = await ask("/api/trace", wish);
        const same = JSON.stringify(JSON.parse(found.key)?.story) === JSON.stringify(wish.story);
        Object.assign(found, { traced, key, fitting: same ? found.fitting : [] });
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      current.key = null;
      onChange(error.message);
      return;
    }
    onChange(null);
    if (!found.unknown.length) suggest(wish, signal);
  }

  /** Questions that fit; what is asked is answered first. */
  async function suggest({ story, kinds }, signal) {
    try {
      found.fitting = (await call("/api/questions", { story, kinds }, signal)).questions;
      onChange(null);
    } catch (error) {
      if (error.name !== "AbortError") onChange(error.message);
    }
  }

  /** Whether a known word starts like this one, so that the rest may still be typed. */
  const isBegun = ({ word }) => model.words.some((known) => known.startsWith(word));

  return {
    found,
    isStale: () => found.traced !== null && found.key !== JSON.stringify(wanted()),
    schedule() {
      clearTimeout(waiting);
      waiting = setTimeout(read, PAUSE);
    },
  };
}
