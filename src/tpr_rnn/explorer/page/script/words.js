// Words that the model has never seen, with those that it knows to click on.

import { html } from "./dom.js";

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
