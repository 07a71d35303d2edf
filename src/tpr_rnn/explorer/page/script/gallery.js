// Stories to look at: each shows one idea, and says what to look for.

import { byId, html, set } from "./dom.js";

/** List the stories; `onChoose(story)`. The function that it returns marks the one that is shown. */
export function createGallery(stories, onChoose) {
  const buttons = stories.map((story) => html("button", {
    type: "button", class: "chip", title: story.look_for, onclick: () => onChoose(story),
  }, story.title));
  byId("stories").replaceChildren(...buttons);
  byId("gallery").hidden = !stories.length;
  return function show(story) {
    const place = stories.indexOf(story);
    buttons.forEach((button, other) => set(button, { "aria-pressed": place === other }));
    byId("look-for").replaceChildren(...(place < 0
      ? ["A story of your own. Those above show one idea each."]
      : [html("b", {}, "Look for: "), story.look_for]));
  };
}

/** The story of the gallery that is told in these sentences. */
export const storyOf = (stories, sentences) => stories.find((story) =>
  sentences.length > 0 && story.sentences.length === sentences.length
  && story.sentences.every((text, place) => text === sentences[place])) ?? null;
