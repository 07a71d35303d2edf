// Play: the story sentence by sentence, then the question's path step by step.

const WHOLE = 14000; // milliseconds for all sentences of a long story
const SLOW = 1100;
const FAST = 180;

/** `actions`: sentences() and steps() to play, onMoment(told), onStep(steps). */
export function createPlayer(button, actions) {
  let timer = null;
  let steps = Infinity; // of the path, that are shown

  function stop() {
    clearTimeout(timer);
    timer = null;
    steps = Infinity;
    button.textContent = "▶ Play";
  }

  function play(told) {
    const all = actions.sentences();
    steps = told < all ? Infinity : 0;
    actions.onMoment(told);
    const pace = Math.max(FAST, Math.min(SLOW, WHOLE / (all + 1)));
    timer = setTimeout(() => (told < all ? play(told + 1) : step(1)), told < all ? pace : SLOW);
  }

  function step(count) {
    steps = count;
    const last = count >= actions.steps();
    if (last) stop();
    actions.onStep(count);
    if (!last) timer = setTimeout(() => step(count + 1), SLOW);
  }

  button.addEventListener("click", () => {
    if (timer !== null) {
      stop();
      return;
    }
    button.textContent = "❚❚ Stop";
    play(0);
  });
  return { stop, steps: () => steps };
}
