// The explorer: story and question are the state; everything on the page follows from it.

import { readAddress, writeAddress } from "./address.js";
import { createSwitches, showAnswer, showChips } from "./answer.js";
import { call } from "./api.js";
import { createCompare, partMeanings } from "./compare.js";
import { byId, html } from "./dom.js";
import { createField, hasWord, replaceWord } from "./field.js";
import {
  chance, createPaster, firstTask, generate, listTasks, openingQuestion,
} from "./library.js";
import { createMemory, showLegend } from "./memory.js";
import { learnOperations, switchedOff, withNeeds } from "./operations.js";
import { showPath } from "./path.js";
import { createStory } from "./story.js";
import { createTabs } from "./tabs.js";
import { newWords, showUnknown } from "./words.js";

const PAUSE = 120; // milliseconds without a key before what was typed is read
const PATIENCE = 1000; // the same before a word that may only be half written counts as unknown
const VIEWS = ["memory", "path", "compare"];
const CHIPS = 6;
const OPENING = 44; // the seed of the first story: one with a detour, short enough to take in

const state = {
  sentences: [],
  question: "",
  off: [], // operations that are switched off
  at: null, // sentences read at the moment that is shown; null: all
  view: "memory",
  part: "e1",
  kinds: {}, // what new words are, where somebody said so
  known: null, // the story of the simulator, or of a file, with its questions and true answers
};
const found = { traced: null, key: null, whole: null, unknown: [], fresh: [], fitting: [] };
const shelf = { stories: [], place: 0 }; // of a file
let model;
let show; // the parts of the page, by what they show

/** Change the state; the page and the address follow. */
function change(changes) {
  Object.assign(state, changes);
  writeAddress(state);
  render();
  schedule();
}

const told = () => state.sentences.filter((text) => text.trim());

/** What the model is to read; what it has read is of the same words, or of before. */
const wanted = () => ({
  story: told(),
  question: state.question.trim() || null,
  kinds: state.kinds,
  operations: model.operations.filter((name) => !state.off.includes(name)),
});
const isStale = () => found.traced !== null && found.key !== JSON.stringify(wanted());
const moment = () => Math.min(state.at ?? Infinity, found.traced.trace.sentences.length);

/** Watch the memory after so many sentences. */
function watch(count) {
  const all = found.traced?.trace.sentences.length ?? 0;
  change({ at: count >= all ? null : Math.max(0, count) });
}

function render() {
  const words = found.unknown.map(({ word }) => word);
  show.story(state.sentences, words);
  show.question.show(state.question);
  show.question.mark(words);
  const take = (word, other) => change({
    sentences: state.sentences.map((text) => replaceWord(text, word, other)),
    question: replaceWord(state.question, word, other),
  });
  const inStory = ({ word }) => state.sentences.some((text) => hasWord(text, word));
  showUnknown(byId("story-words"), found.unknown.filter(inStory), take);
  byId("story-words").append(...newWords(found.fresh, (word, kind) => change({
    kinds: { ...state.kinds, [word]: kind },
  })));
  const inQuestion = (one) => hasWord(state.question, one.word) && !inStory(one);
  showUnknown(byId("question-words"), found.unknown.filter(inQuestion), take);
  showChips(chips(), ({ text, after }) => change({
    question: text,
    ...(after === undefined ? {} : { sentences: state.known.sentences.slice(0, after), at: null }),
  }));
  show.operations(state.off);
  show.tab(state.view);
  document.body.classList.toggle("stale", isStale());
  if (!found.traced) return;
  const asked = found.traced.trace.question;
  if (!isStale()) showAnswer(asked, found.traced.not_told, asked && truth(), found.whole, state.off);
  annotate();
  show.memory(found.traced, moment());
  showPath(found.traced, (count) => { change({ view: "memory" }); watch(count); });
  show.compare(found.traced, state.part);
}

/** Questions to click on: the story's own while it is as it was told, else those that fit. */
function chips() {
  const chosen = ({ text }) => text === state.question;
  if (!isKnown()) {
    return found.fitting.slice(0, CHIPS).map((text) => ({ text, chosen: chosen({ text }) }));
  }
  const here = told().length;
  const asked = new Map(state.known.questions.map((one) => [`${one.after} ${one.text}`, one]));
  return [...asked.values()].map(({ text, after }) => ({
    text, after, chosen: chosen({ text }) && after === here,
  }));
}

const isKnown = () => state.known !== null
  && told().every((text, place) => text === state.known.sentences[place]);

/** The true answer, where it is known. */
function truth() {
  if (!isKnown()) return null;
  const asked = state.known.questions.find(({ text, after }) =>
    text === state.question && after === told().length);
  return asked?.answer ?? null;
}

/** Write beside each sentence what the trace says of it. */
function annotate() {
  const { trace, why } = found.traced;
  const now = moment();
  const notes = state.sentences.map(() => ({}));
  const rows = state.sentences.flatMap((text, place) => (text.trim() ? [place] : []));
  trace.sentences.forEach((_, place) => {
    const answer = trace.question?.over_time[place].word;
    const before = trace.question?.over_time[place - 1]?.word;
    notes[rows[trace.skipped + place]] = {
      watched: place === now - 1,
      later: place >= now,
      answer: answer === before ? null : answer,
      steps: (why?.steps ?? []).flatMap(({ sources }, step) =>
        (sources.some(({ sentence }) => sentence === place) ? [step + 1] : [])),
    };
  });
  show.notes(notes);
}

let waiting;
let reading = { key: null, stop: new AbortController() };

function schedule() {
  clearTimeout(waiting);
  waiting = setTimeout(read, PAUSE);
}

/** Let the model read what is told and asked, unless it has. */
async function read() {
  const wish = wanted();
  const key = JSON.stringify(wish);
  if (key === reading.key) return;
  reading.stop.abort();
  reading = { key, stop: new AbortController() };
  const { signal } = reading.stop;
  const ask = (address, body) => call(address, body, signal);
  try {
    const { story, question, kinds } = wish;
    const { unknown, new_words: fresh } = await ask("/api/check", { story, question, kinds });
    if (unknown.some(isBegun)) await new Promise((done) => { setTimeout(done, PATIENCE); });
    if (signal.aborted) return;
    found.unknown = unknown;
    found.fresh = fresh;
    if (!unknown.length) {
      await trace(ask, wish);
      found.key = key;
    }
    problem(null);
  } catch (error) {
    if (error.name === "AbortError") return;
    reading.key = null;
    problem(error.message);
  }
  render();
}

/** Whether a known word starts like this one, so that the rest may still be typed. */
const isBegun = ({ word }) => model.words.some((known) => known.startsWith(word));

async function trace(ask, { story, question, kinds, operations }) {
  const ablated = operations.length < model.operations.length;
  const [traced, whole, { questions }] = await Promise.all([
    ask("/api/trace", { story, question, kinds, operations }),
    ablated && question ? ask("/api/answer", { story, question, kinds, top: 1 }) : null,
    ask("/api/questions", { story }),
  ]);
  found.traced = traced;
  found.whole = whole && whole.answers[0];
  found.fitting = questions;
  byId("fitting").replaceChildren(...questions.map((text) => html("option", { value: text })));
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
  });
}

async function newStory() {
  try {
    shelve([]);
    open(await generate(byId("task").value, chance()));
  } catch (error) {
    problem(error.message);
  }
}

/** Keep the stories of a file to leaf through. */
function shelve(stories, place = 0) {
  Object.assign(shelf, { stories, place });
  const leaf = (sign, label, to) => html("button", {
    type: "button", "aria-label": label, disabled: !stories[to], onclick: () => shelve(stories, to),
  }, sign);
  byId("shelf").hidden = stories.length < 2;
  byId("shelf").replaceChildren(
    leaf("◀", "Previous story", place - 1), ` story ${place + 1} of ${stories.length} `,
    leaf("▶", "Next story", place + 1));
  if (stories.length) open(stories[place]);
}

/** Switch an operation, as far as that can be; switched on, it brings back what it needs. */
function switchOperation(operation, on) {
  const back = withNeeds(operation);
  const off = on ? state.off.filter((name) => !back.includes(name)) : [...state.off, operation];
  change({ off: switchedOff(off, model.operations) ?? state.off });
}

function edit(operation) {
  const sentences = [...state.sentences];
  operation(sentences);
  change({ sentences, at: null });
}

function createPage() {
  const question = createField({
    list: "fitting", placeholder: "Where is Mary?", "aria-label": "Question",
    oninput: () => change({ question: question.input.value }),
  });
  byId("question").append(question.element);
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
      const blank = state.sentences.slice(0, place).filter((text) => !text.trim()).length;
      if (found.traced) watch(place + 1 - blank - found.traced.trace.skipped);
    },
  });
  byId("add").addEventListener("click", () => {
    edit((sentences) => sentences.push(""));
    story.focus(Infinity);
  });
  byId("clear").addEventListener("click", () => {
    change({ sentences: [""], question: "", known: null, at: null, off: [] });
    story.focus(0);
  });
  byId("generate").addEventListener("click", newStory);
  byId("share").addEventListener("click", share);
  createPaster(shelve);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address holds the story
    byId("views").focus();
  });
  show = {
    story: story.show,
    notes: story.annotate,
    question,
    operations: createSwitches(model.operations, switchOperation),
    tab: createTabs(document.querySelector("[role=tablist]"), (view) => change({ view })),
    memory: createMemory(watch),
    compare: createCompare((part) => change({ part })),
  };
  showLegend(model.operations);
}

async function share() {
  const button = byId("share");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy the address above";
  }
  setTimeout(() => { button.textContent = "Copy link"; }, 2000);
}

const oneOf = (known, given) => (known.includes(given) ? given : known[0]);

/** Show the story of the address; without one, a story to begin with. */
async function arrive() {
  const said = readAddress();
  if (said) {
    const { task, seed, sentences, question, ...shown } = said;
    const known = task && seed !== null ? await generate(task, seed).catch(() => null) : null;
    change({
      sentences,
      question,
      known,
      off: switchedOff(shown.off, model.operations) ?? [],
      at: shown.at < sentences.length ? shown.at : null,
      view: oneOf(VIEWS, shown.view),
      part: oneOf(Object.keys(partMeanings()), shown.part),
    });
    if (task) byId("task").value = task;
    return;
  }
  const task = firstTask(model.tasks);
  if (task === undefined) {
    change({ sentences: [""] });
    return;
  }
  byId("task").value = task;
  open(await generate(task, OPENING));
}

try {
  model = await call("/api/model");
  learnOperations((await call("/api/operations")).operations);
  byId("model").textContent = `${model.name}: ${model.parameters.toLocaleString("en")} parameters, `
    + `${model.words.length} words`;
  listTasks(model.tasks);
  createPage();
  window.addEventListener("hashchange", () => (readAddress() ? arrive() : writeAddress(state)));
  await arrive();
} catch (error) {
  problem(error.message);
}
