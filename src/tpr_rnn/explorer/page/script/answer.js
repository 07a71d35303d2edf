// The answer, the plain sentence that says what it rests on, and the next best answers.

import { byId, html, probability, set } from "./dom.js";
import { lighting } from "./light.js";

const SHOWN = 0.01; // less likely answers are folded away

/** Show the answer of a trace; `truth` may be null. */
export function showAnswer({ trace, why, not_told: absent }, truth, light) {
  const asked = trace.question;
  const guesses = asked?.answers ?? [];
  const likely = guesses.filter(({ probability: share }, place) => !place || share >= SHOWN);
  const unlikely = guesses.slice(likely.length);
  byId("verdict").replaceChildren(...(asked ? verdict(asked, absent, truth) : ["Ask a question about the story."]));
  byId("short").replaceChildren(...(why ? plain(why.short, trace, light) : []),
    why?.spare ? html("small", {}, ` ${why.spare}`) : "");
  byId("guesses").hidden = likely.length < 2;
  byId("guesses").replaceChildren(...likely.map((guess) => bar(guess, truth)));
  byId("unlikely").hidden = !unlikely.length;
  byId("unlikely").querySelector("summary").textContent = `+${unlikely.length} under 1%`;
  byId("unlikely").querySelector("ol").replaceChildren(...unlikely.map((guess) => bar(guess, truth)));
}

function verdict({ answers: [best] }, absent, truth) {
  const right = truth === best.word;
  return [
    html("strong", {}, best.word), ` ${probability(best.probability)} `,
    absent.length ? html("span", {}, `(the story does not mention ${absent.join(", ")}) `) : "",
    truth === null ? "" : html("span", { class: right ? "truth right" : "truth wrong" },
      right ? "✓ correct" : `✗ the correct answer is ${truth}`),
  ];
}

/** One of the likely answers, with a bar. */
export function bar({ word, probability: share }, truth) {
  const filled = html("i", {});
  filled.style.setProperty("--share", share);
  return html("li", { class: word === truth ? "true" : null },
    html("span", { class: "word" }, word), html("span", { class: "meter" }, filled),
    html("span", { class: "share" }, probability(share)));
}

/** A sentence about the story, in which the numbers of sentences light what they told. */
export function plain(text, { unit, sentences, skipped }, light) {
  return text.split(/(\(\d+\))/).map((piece) => {
    const sentence = Number(/^\((\d+)\)$/.exec(piece)?.[1]) - skipped - 1;
    if (!sentences[sentence]) return piece;
    return html("span", {
      class: "ref", tabindex: 0, role: "note", title: sentences[sentence].text,
      "aria-label": `${unit === "word" ? "Word" : "Sentence"} ${sentence + skipped + 1}`, ...lighting(light, () => ({ sentences: [sentence] })),
    }, piece.slice(1, -1));
  });
}

/** Questions to click on. */
export function showChips(chips, onChoose) {
  byId("chips").replaceChildren(...chips.map((chip) => set(
    html("button", { type: "button", class: "chip", onclick: () => onChoose(chip) }, chip.text,
      chip.after === undefined ? null : html("small", {}, `after ${chip.after}`)),
    { "aria-pressed": chip.chosen })));
}
