// Words that the model has never seen, with what to click on: known words, or other kinds.

import { isSaved } from "./api.js";
import { html } from "./dom.js";

const KINDS = ["name", "thing", "place"];

/** Say what new words were taken for; `onChoose(word, kind)` is called for another kind. */
export function newWords(words, onChoose) {
  return words.map(({ word, kind, like }) =>
    html("p", {},
      "New: ", html("b", {}, word), ` is read as a ${kind}, like ${like}. `,
      ...(isSaved ? [] : otherKinds(word, kind, onChoose))));
}

const otherKinds = (word, kind, onChoose) => ["Is it a ",
  ...KINDS.filter((other) => other !== kind).map((other) => html("button", {
    type: "button", class: "chip", "aria-label": `Read ${word} as a ${other}`,
    onclick: () => onChoose(word, other),
  }, other)), "?"];

/** List unknown words; `onChoose(word, known)` is called for the one to take instead. */
export function showUnknown(host, unknown, onChoose) {
  host.replaceChildren(...unknown.map(({ word, nearest }) =>
    html("p", {},
      "The model has never seen ", html("mark", {}, word),
      nearest.length ? ". Did you mean " : ".",
      ...nearest.map((known) => html("button", {
        type: "button", class: "chip", "aria-label": `Write ${known} for ${word}`,
        onclick: () => onChoose(word, known),
      }, known)))));
}
