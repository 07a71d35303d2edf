// The answer, the next best ones, the truth where it is known, and the switches of the memory.

import { byId, html, probability, set } from "./dom.js";
import { classOf, operations, switchedOff } from "./operations.js";

/** The switches of the operations in use; `onSwitch(name, on)`. */
export function createSwitches(used, onSwitch) {
  const switches = {};
  for (const name of used) {
    const { title, purpose } = operations[name];
    const box = html("input", { type: "checkbox", onchange: () => onSwitch(name, box.checked) });
    switches[name] = box;
    byId("operations").append(html("label", { class: classOf(name) }, box,
      html("span", {}, html("b", {}, title), html("small", {}, purpose))));
  }
  return (off) => {
    for (const [name, box] of Object.entries(switches)) {
      box.checked = !off.includes(name);
      const last = box.checked && !switchedOff([...off, name], used);
      set(box, { disabled: last, title: last ? "One operation must stay on" : null });
    }
  };
}

const SHOWN = 0.01; // less likely answers are left out

/** Show the answers to a question, and what of it the story does not mention; `truth` and `whole` (the answer of the whole memory) may be null. */
export function showAnswer(asked, absent, truth, whole, off) {
  const verdict = byId("verdict");
  if (!asked) {
    verdict.replaceChildren("Ask a question about the story.");
    byId("guesses").replaceChildren();
    byId("ablated").textContent = "";
    return;
  }
  const [best] = asked.answers;
  verdict.replaceChildren(html("strong", {}, best.word), ` ${probability(best.probability)} `);
  if (absent.length) {
    verdict.append(html("span", {}, `(the story does not mention ${absent.join(", ")}) `));
  }
  if (truth !== null) {
    const right = truth === best.word;
    verdict.append(html("span", { class: right ? "truth right" : "truth wrong" },
      right ? "✓ correct" : `✗ the correct answer is ${truth}`));
  }
  const shown = asked.answers.filter(({ probability: share }, place) => !place || share >= SHOWN);
  byId("guesses").replaceChildren(...shown.map(({ word, probability: share }) => {
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
  const titles = off.map((name) => operations[name].title);
  const without = `Without ${titles.join(" and ")} it says ${best.word} (${probability(best.probability)})`;
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
