// Where stories come from, beside the gallery: the simulator, or a text that is pasted.

import { call } from "./api.js";
import { byId, html } from "./dom.js";

const SHORT = 12; // so many sentences can be taken in at a glance

/** A story of the simulator, with its task and seed. */
export const generate = (task, seed) => call(`/api/story?task=${encodeURIComponent(task)}&seed=${seed}`);

/** A story that nobody has seen. */
export const chance = () => Math.floor(Math.random() * 2 ** 32);

/** The question of a story to begin with: the last one that is asked soon. */
export function openingQuestion({ questions }) {
  return questions.filter(({ after }) => after <= SHORT).at(-1) ?? questions[0];
}

/** List the tasks to choose from. */
export function listTasks(tasks) {
  byId("task").replaceChildren(...tasks.map(({ name, title, known }) =>
    html("option", { value: name, disabled: !known },
      `${name} · ${title.replaceAll("-", " ")}${known ? "" : " (unknown words)"}`)));
}

/** The stories of a file, to leaf through; `onOpen(story)` shows one. */
export function createShelf(onOpen) {
  return function shelve(stories, place = 0) {
    const leaf = (sign, label, to) => html("button", {
      type: "button", "aria-label": label, disabled: !stories[to], onclick: () => shelve(stories, to),
    }, sign);
    byId("shelf").hidden = stories.length < 2;
    byId("shelf").replaceChildren(
      leaf("◀", "Previous story", place - 1), ` story ${place + 1} of ${stories.length} `,
      leaf("▶", "Next story", place + 1));
    if (stories.length) onOpen(stories[place]);
  };
}

/** The dialogue to paste a text; `onStories(stories)`. */
export function createPaster(onStories) {
  const dialog = byId("paster");
  const problem = byId("paste-problem");
  byId("paste").addEventListener("click", () => {
    problem.hidden = true;
    dialog.showModal();
    byId("pasted").focus();
  });
  byId("take").addEventListener("click", async () => {
    try {
      const { stories } = await call("/api/parse", { text: byId("pasted").value });
      dialog.close();
      onStories(stories);
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  });
}
