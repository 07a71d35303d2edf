// The answer, the next best ones, the truth where it is known, and the switches of the memory.

import { byId, html, probability, set } from "./dom.js";

const GOOD_FOR = {
  write: "stores what a sentence tells",
  move: "keeps what it replaces",
  backlink: "stores the way back",
};

/** The operations to switch off if that can be, else null: move needs write, and one must stay. */
export function permitted(off, operations) {
  const gone = operations.filter((name) =>
    off.includes(name) || (name === "move" && off.includes("write")));
  return gone.length < operations.length ? gone : null;
}

/** The switches; `onSwitch(operation, on)`. */
export function createOperations(operations, onSwitch) {
  const switches = {};
  for (const operation of operations) {
    const box = html("input", { type: "checkbox", onchange: () => onSwitch(operation, box.checked) });
    switches[operation] = box;
    byId("operations").append(html("label", { class: operation }, box,
      html("span", {}, html("b", {}, operation), html("small", {}, GOOD_FOR[operation]))));
  }
  return (off) => {
    for (const [operation, box] of Object.entries(switches)) {
      box.checked = !off.includes(operation);
      const last = box.checked && !permitted([...off, operation], operations);
      set(box, { disabled: last, title: last ? "One operation must stay on" : null });
    }
  };
}

/** Show the answers to a question; `truth` and `whole` (the answer of the whole memory) may be null. */
export function showAnswer(asked, truth, whole, off) {
  const verdict = byId("verdict");
  if (!asked) {
    verdict.replaceChildren("Ask a question about the story.");
    byId("guesses").replaceChildren();
    byId("ablated").textContent = "";
    return;
  }
  const [best] = asked.answers;
  verdict.replaceChildren(html("strong", {}, best.word), ` ${probability(best.probability)} `);
  if (truth !== null) {
    const right = truth === best.word;
    verdict.append(html("span", { class: right ? "truth right" : "truth wrong" },
      right ? "✓ that is true" : `✗ the truth is ${truth}`));
  }
  byId("guesses").replaceChildren(...asked.answers.map(({ word, probability: share }) => {
    const bar = html("i", {});
    bar.style.setProperty("--share", share);
    return html("li", { class: word === truth ? "true" : null },
      html("span", { class: "word" }, word), html("span", { class: "meter" }, bar),
      html("span", { class: "share" }, probability(share)));
  }));
  byId("ablated").textContent = describe(best, whole, off);
}

function describe(best, whole, off) {
  if (!whole) return "";
  const without = `Without ${off.join(" and ")} it says ${best.word} (${probability(best.probability)})`;
  return best.word === whole.word
    ? `${without}, as with all operations (${probability(whole.probability)}).`
    : `${without}; with all operations: ${whole.word} (${probability(whole.probability)}).`;
}

/** Questions to click on. */
export function showChips(chips, onChoose) {
  byId("chips").replaceChildren(...chips.map((chip) => set(
    html("button", { type: "button", class: "chip", onclick: () => onChoose(chip) }, chip.text,
      chip.after === undefined ? null : html("small", {}, `after ${chip.after}`)),
    { "aria-pressed": chip.chosen })));
}
