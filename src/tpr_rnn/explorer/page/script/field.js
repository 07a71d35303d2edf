// A line to type into, in which unknown words are marked.

import { isSaved } from "./api.js";
import { html } from "./dom.js";

const BETWEEN = /(\s+|[.,?!;:।"()])/; // between words; a punctuation mark is a word to the model

/** The words of a text, with what stands between them. */
const pieces = (text) => text.split(BETWEEN);

/** A text with one word put in place of another, wherever it stands; its capital is kept. */
export function replaceWord(text, old, other) {
  return pieces(text)
    .map((piece) => {
      if (piece.toLowerCase() !== old) return piece;
      const capital = piece[0] !== piece[0].toLowerCase();
      return capital ? other[0].toUpperCase() + other.slice(1) : other;
    })
    .join("");
}

/** Whether a text has this word. */
export const hasWord = (text, word) => pieces(text.toLowerCase()).includes(word);

/** A field; `attributes` are those of its input. */
export function createField(attributes) {
  const mirror = html("div", { class: "mirror", "aria-hidden": "true" });
  const input = html("input", {
    type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "sentences", readonly: isSaved, ...attributes,
  });
  const follow = () => { mirror.scrollLeft = input.scrollLeft; };
  input.addEventListener("scroll", follow);
  let unknown = new Set();

  /** Write what was typed behind the input, invisibly, but for the lines under unknown words. */
  function reflect() {
    const marked = pieces(input.value).map((piece) =>
      unknown.has(piece.toLowerCase()) ? html("mark", {}, piece) : piece);
    mirror.replaceChildren(...marked);
    const wrong = marked.some((piece) => typeof piece !== "string");
    input.setAttribute("aria-invalid", wrong);
    follow();
  }
  input.addEventListener("input", reflect);

  return {
    element: html("div", { class: "field" }, mirror, input),
    input,
    /** Show a text, and leave the caret alone if it stands there already. */
    show(text) {
      if (input.value !== text) input.value = text;
      reflect();
    },
    mark(words) {
      unknown = new Set(words);
      reflect();
    },
  };
}
