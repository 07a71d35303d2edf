// The story: sentences to write, change, remove and put in another order.

import { html, set } from "./dom.js";
import { createField } from "./field.js";

/**
 * The editor of a story.
 * `actions`: change(place, text), insert(place), remove(place), move(place, by), watch(place),
 * point(place) when a sentence is pointed at or has the focus, with null when it is left.
 */
export function createStory(host, actions) {
  const rows = [];
  let marked = ""; // which sentences are marked as needed

  function createRow() {
    const row = {};
    const place = () => rows.indexOf(row);
    const point = () => actions.point(place());
    const leave = () => actions.point(null);
    row.field = createField({
      oninput: () => actions.change(place(), row.field.input.value),
      onkeydown: (event) => onKey(event, place()),
    });
    row.number = html("button", { type: "button", class: "number", onclick: () => actions.watch(place()) });
    row.told = html("span", { class: "told" });
    row.then = html("span", { class: "then" });
    const tool = (sign, action) =>
      html("button", { type: "button", class: "tool", onclick: () => action(place()) }, sign);
    row.up = tool("↑", (at) => actions.move(at, -1));
    row.down = tool("↓", (at) => actions.move(at, 1));
    row.remove = tool("✕", (at) => actions.remove(at));
    row.element = html("li", { onpointerenter: point, onpointerleave: leave, onfocusin: point, onfocusout: leave },
      row.number, row.field.element, html("span", { class: "meta" }, row.told, row.then),
      html("span", { class: "tools" }, row.up, row.down, row.remove));
    return row;
  }

  function onKey(event, place) {
    const { key, altKey, target } = event;
    if (target.readOnly && (altKey || !key.startsWith("Arrow"))) return;
    if (key === "Enter") actions.insert(place + 1);
    else if (key === "Backspace" && !target.value) actions.remove(place);
    else if (altKey && key === "ArrowUp") actions.move(place, -1);
    else if (altKey && key === "ArrowDown") actions.move(place, 1);
    else if (key === "ArrowUp") focus(place - 1);
    else if (key === "ArrowDown") focus(place + 1);
    else return;
    event.preventDefault();
  }

  function focus(place) {
    rows[Math.max(0, Math.min(place, rows.length - 1))]?.field.input.focus();
  }

  /** Show the sentences. */
  function show(sentences, unknown) {
    while (rows.length < sentences.length) {
      rows.push(createRow());
      host.append(rows.at(-1).element);
    }
    while (rows.length > sentences.length) rows.pop().element.remove();
    rows.forEach((row, place) => {
      const number = place + 1;
      row.field.show(sentences[place]);
      row.field.element.style.setProperty("--letters", sentences[place].length);
      row.field.mark(unknown);
      row.field.input.setAttribute("aria-label", `Sentence ${number}`);
      row.number.textContent = number;
      set(row.number, { "aria-label": `Watch the memory after sentence ${number}` });
      set(row.up, { "aria-label": `Move sentence ${number} up`, disabled: place === 0 });
      set(row.down, { "aria-label": `Move sentence ${number} down`, disabled: number === rows.length });
      set(row.remove, { "aria-label": `Remove sentence ${number}` });
    });
  }

  /**
   * Say what is known of each sentence: whether it is the one that is watched, or the answer needs it,
   * which inference steps it told something, and the answer that would have been given from it on.
   */
  function annotate(notes) {
    rows.forEach((row, place) => {
      const { watched, later, needed, steps, answer } = notes[place] ?? {};
      for (const [name, on] of Object.entries({ watched, later, needed })) {
        row.element.classList.toggle(name, Boolean(on));
      }
      set(row.number, { "aria-pressed": Boolean(watched) });
      row.told.replaceChildren(...(steps ?? []).map((step) =>
        html("span", { class: "badge", title: `Step ${step} found what this sentence stored` }, step)));
      row.then.textContent = answer ?? "";
      set(row.then, { title: answer ? `From this sentence on, the answer is ${answer}` : null });
    });
    const needed = notes.map((note) => Boolean(note.needed));
    const changed = needed.join() !== marked;
    marked = needed.join();
    bringIntoView(rows.find((_, place) => notes[place]?.watched) ?? (changed && rows[needed.indexOf(true)]));
  }

  /** Keep what is watched, or needed, in view, where the story has a frame of its own. */
  function bringIntoView(row) {
    if (!row || host.scrollHeight <= host.clientHeight || host.contains(document.activeElement)) return;
    host.scrollTop = row.element.offsetTop - host.clientHeight / 3;
  }

  /** Light some sentences; null: none. */
  function light(places) {
    rows.forEach((row, place) => row.element.classList.toggle("lit", places?.includes(place) ?? false));
  }

  return { show, annotate, focus, light };
}
