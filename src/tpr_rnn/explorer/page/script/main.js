// The explorer: story and question are the state; everything on the page follows from it.

import { readAddress, writeAddress } from "./address.js";
import { showAnswer, showChips } from "./answer.js";
import { call } from "./api.js";
import { neededOf } from "./arrows.js";
import { choice, createBeside } from "./beside.js";
import { createCompare, partMeanings } from "./compare.js";
import { byId, html } from "./dom.js";
import { createField, hasWord, replaceWord } from "./field.js";
import { createGallery, storyOf } from "./gallery.js";
import { chance, createPaster, createShelf, generate, listTasks, openingQuestion } from "./library.js";
import { createLight } from "./light.js";
import { createMemory, showLegend } from "./memory.js";
import { learnOperations } from "./operations.js";
import { createPath } from "./path.js";
import { createReading } from "./reading.js";
import { createSaving } from "./save.js";
import { createStory } from "./story.js";
import { createTabs } from "./tabs.js";
import { createTour } from "./tour.js";
import { newWords, showUnknown } from "./words.js";

const VIEWS = ["memory", "path", "compare", "beside"];
const CHIPS = 4;

const state = {
  sentences: [],
  question: "",
  at: null, // sentences read at the moment that is shown; null: all
  view: "memory",
  part: "e1", // that is compared
  other: "", // the model beside this one; empty: this one
  off: null, // operations that are off there; null: nobody has chosen yet
  kinds: {}, // what new words are, where somebody said so
  known: null, // the story of the gallery, of the simulator or of a file, with its true answers
};
const light = createLight();
let model;
let gallery = [];
let reading;
let show; // the parts of the page, by what they show

/** Change the state; the page and the address follow. */
function change(changes) {
  Object.assign(state, changes);
  writeAddress(state);
  render();
  reading.schedule();
}

const told = () => state.sentences.filter((text) => text.trim());
const wanted = () => ({
  story: told(),
  question: state.question.trim() || null,
  kinds: state.kinds,
  supports: knownQuestion()?.supports ?? [],
});
const traced = () => reading.found.traced;
const moment = () => Math.min(state.at ?? Infinity, traced().trace.sentences.length);

/** Watch the memory after so many sentences. */
function watch(count) {
  const all = traced()?.trace.sentences.length ?? 0;
  change({ at: count >= all ? null : Math.max(0, count) });
}

function render() {
  const { unknown, fresh } = reading.found;
  const words = unknown.map(({ word }) => word);
  show.story(state.sentences, words);
  show.question.show(state.question);
  show.question.mark(words);
  const take = (word, other) => change({
    sentences: state.sentences.map((text) => replaceWord(text, word, other)),
    question: replaceWord(state.question, word, other),
  });
  const inStory = ({ word }) => state.sentences.some((text) => hasWord(text, word));
  showUnknown(byId("story-words"), unknown.filter(inStory), take);
  byId("story-words").append(...newWords(fresh, (word, kind) => change({
    kinds: { ...state.kinds, [word]: kind },
  })));
  const inQuestion = (one) => hasWord(state.question, one.word) && !inStory(one);
  showUnknown(byId("question-words"), unknown.filter(inQuestion), take);
  showChips(chips(), ({ text, after }) => change({
    question: text,
    ...(after === undefined ? {} : { sentences: state.known.sentences.slice(0, after), at: null }),
  }));
  show.gallery(isKnown() ? state.known : null);
  show.tab(state.view);
  document.body.classList.toggle("stale", reading.isStale());
  if (!traced()) return;
  if (!reading.isStale()) showAnswer(traced(), traced().trace.question && truth(), light);
  annotate();
  if (state.view === "memory") show.memory(traced(), moment());
  if (state.view === "path") show.path(traced());
  if (state.view === "compare") show.compare(traced(), state.part);
  if (state.view === "beside" && !reading.isStale()) show.beside(traced(), wanted(), state.other, state.off);
}

/** Questions to click on: the story's own while it is as it was told, else those that fit. */
function chips() {
  const chosen = (text) => text === state.question;
  if (!isKnown()) {
    return reading.found.fitting.slice(0, CHIPS).map((text) => ({ text, chosen: chosen(text) }));
  }
  const here = told().length;
  const asked = new Map(state.known.questions.map((one) => [`${one.after} ${one.text}`, one]));
  const own = [...asked.values()].map(({ text, after }) =>
    ({ text, after, chosen: chosen(text) && after === here }));
  if (own.length > 1 || here < state.known.sentences.length) return own;
  const same = (text) => text.toLowerCase() === own[0]?.text.toLowerCase();
  const others = reading.found.fitting.filter((text) => !same(text)).slice(0, CHIPS - own.length);
  return [...own.map(({ text, chosen: yes }) => ({ text, chosen: yes })),
    ...others.map((text) => ({ text, chosen: chosen(text) }))];
}

const isKnown = () => state.known !== null && told().length > 0
  && told().every((text, place) => text === state.known.sentences[place]);

/** The true answer, where it is known. */
function truth() {
  return knownQuestion()?.answer ?? null;
}

function knownQuestion() {
  if (!isKnown()) return null;
  return state.known.questions.find(({ text, after }) =>
    text === state.question && after === told().length) ?? null;
}

/** The place among the lines of the story of each step of the trace: a word has its sentence's. */
function linesOfTrace() {
  const filled = state.sentences.flatMap((text, place) => (text.trim() ? [place] : []));
  return traced().trace.sentences.map(({ line }) => filled[line]); // none: a word of the question
}

/** Write beside each sentence what the trace says of it. */
function annotate() {
  const { trace, why, expected } = traced();
  const now = moment();
  const stale = reading.isStale(); // then what is marked may be of another story
  const notes = state.sentences.map(() => ({}));
  const lines = linesOfTrace();
  const needed = neededOf(trace).sentences;
  let before; // the last answer of the question's kind
  const ends = new Map(lines.map((line, step) => [line, step]).filter(([line]) => line !== undefined));
  for (const [line, end] of ends) {
    const isOwn = (step) => lines[step] === line;
    const answer = trace.question?.over_time[end].word;
    const fits = answer !== undefined && (expected === null || expected.includes(answer));
    notes[line] = {
      watched: isOwn(now - 1) && state.at !== null,
      later: lines.indexOf(line) >= now,
      needed: !stale && [...needed].some(isOwn),
      answer: fits && answer !== before ? answer : null,
      steps: (why?.steps ?? []).flatMap(({ sources }, step) =>
        (sources.some(({ sentence }) => isOwn(sentence)) ? [step + 1] : [])),
    };
    if (fits) before = answer;
  }
  show.notes(notes);
}

function problem(message) {
  byId("problem").textContent = message ?? "";
  byId("problem").hidden = message === null;
}

/** Show a story whose questions are known. */
function open(known, question = openingQuestion(known)) {
  change({
    known,
    sentences: known.sentences.slice(0, question?.after ?? known.sentences.length),
    question: question?.text ?? "",
    at: null,
    kinds: {},
  });
}

async function newStory() {
  try {
    show.shelf([]);
    open(await generate(byId("task").value, chance()));
  } catch (error) {
    problem(error.message);
  }
}

function edit(operation) {
  const sentences = [...state.sentences];
  operation(sentences);
  change({ sentences, at: null });
}

function createEditor() {
  const story = createStory(byId("sentences"), {
    change: (place, text) => edit((sentences) => { sentences[place] = text; }),
    insert(place) {
      edit((sentences) => sentences.splice(place, 0, ""));
      story.focus(place);
    },
    remove(place) {
      edit((sentences) => sentences.splice(place, 1));
      story.focus(place - 1);
    },
    move(place, by) {
      const to = place + by;
      if (to < 0 || to >= state.sentences.length) return;
      edit((sentences) => sentences.splice(to, 0, ...sentences.splice(place, 1)));
      story.focus(to);
    },
    watch(place) {
      if (!traced()) return;
      if (state.view !== "memory") change({ view: "memory" });
      watch(linesOfTrace().filter((line) => line <= place).length);
    },
    point(place) {
      const lines = place === null || !traced() || reading.isStale() ? [] : linesOfTrace();
      const sentences = lines.flatMap((line, step) => (line === place ? [step] : []));
      light.set(sentences.length ? { sentences } : null);
    },
  });
  light.onChange((lit) => {
    const lines = traced() ? linesOfTrace() : [];
    story.light(lit && lit.sentences.map((sentence) => lines[sentence]));
  });
  byId("add").addEventListener("click", () => {
    edit((sentences) => sentences.push(""));
    story.focus(Infinity);
  });
  byId("clear").addEventListener("click", () => {
    change({ sentences: [""], question: "", known: null, at: null });
    story.focus(0);
  });
  return story;
}

function createPage() {
  const question = createField({
    list: "fitting", placeholder: "Where is Mary?", "aria-label": "Question",
    oninput: () => change({ question: question.input.value }),
  });
  byId("question").append(question.element);
  const story = createEditor();
  byId("generate").addEventListener("click", newStory);
  byId("share").addEventListener("click", share);
  const shelf = createShelf(open);
  createPaster(shelf);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address holds the story
    byId("views").focus();
  });
  const watchAt = (count) => {
    change({ view: "memory" });
    watch(count);
  };
  show = {
    story: story.show,
    notes: story.annotate,
    question,
    shelf,
    gallery: createGallery(gallery, (known) => {
      shelf([]);
      open(known);
    }),
    tab: createTabs(document.querySelector("[role=tablist]"), (view) => change({ view })),
    memory: createMemory(watch, light),
    path: createPath(watchAt, light),
    compare: createCompare((part) => change({ part }), light),
    beside: createBeside(model, (other, off) => change({ other, off }), light),
  };
  showLegend(model.operations, model.unit);
  createSaving(traced, () => ({ sentences: told(), question: state.question, known: knownQuestion() }));
  createTour(() => change({ view: "memory", at: null }));
}

/** A question, or what else there is to see, may be chosen from a list while it is typed. */
function onRead(error) {
  byId("fitting").replaceChildren(...reading.found.fitting.map((text) => html("option", { value: text })));
  problem(error);
  render();
}

async function share() {
  const button = byId("share");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy the address above";
  }
  setTimeout(() => {
    button.textContent = "Copy link";
    byId("save").open = false;
  }, 1500);
}

const oneOf = (known, given) => (known.includes(given) ? given : known[0]);

/** Show the story of the address; without one, the first of the gallery, or one of the simulator. */
async function arrive() {
  const said = readAddress();
  if (said) {
    const { task, seed, sentences, question, ...shown } = said;
    const known = task && seed !== null ? await generate(task, seed).catch(() => null) : null;
    change({
      sentences,
      question,
      known: known ?? storyOf(gallery, sentences),
      at: model.unit === "word" || shown.at < sentences.length ? shown.at : null,
      view: oneOf(VIEWS, shown.view),
      part: oneOf(Object.keys(partMeanings()), shown.part),
      other: choice(model, shown.other, shown.off).name,
      off: shown.off && choice(model, shown.other, shown.off).off,
    });
    if (task) byId("task").value = task;
    return;
  }
  const [task] = model.tasks.filter(({ known }) => known);
  if (gallery.length) open(gallery[0]);
  else if (task) open(await generate(task.name, 0));
  else change({ sentences: [""] });
}

try {
  const [described, table, stories] = await Promise.all(
    ["/api/model", "/api/operations", "/api/gallery"].map((address) => call(address)));
  model = described;
  gallery = stories.stories;
  learnOperations(table.operations);
  byId("model").textContent = `${model.name}: ${model.parameters.toLocaleString("en")} parameters, `
    + `${model.words.length} words`;
  listTasks(model.tasks);
  reading = createReading(model, wanted, onRead);
  createPage();
  window.addEventListener("hashchange", () => (readAddress() ? arrive() : writeAddress(state)));
  await arrive();
} catch (error) {
  problem(error.message);
}
