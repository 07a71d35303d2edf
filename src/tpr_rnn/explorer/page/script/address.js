// A story is in the address, behind the #, so that a link shows it again. A browser sends that part
// to nobody.

/** What the address says: a story and how to look at it, or null. */
export function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  if (!said.has("story")) return null;
  const number = (name) => (/^\d{1,10}$/.test(said.get(name) ?? "") ? Number(said.get(name)) : null);
  return {
    sentences: said.get("story").split("\n").filter((text) => text.trim()),
    question: said.get("question") ?? "",
    at: number("at"),
    view: said.get("view") ?? "",
    part: said.get("part") ?? "",
    other: said.get("other") ?? "",
    off: said.get("off")?.split(",").filter((name) => name) ?? null,
    task: said.get("task"),
    seed: number("seed"),
  };
}

/** Put a story, and how it is looked at, into the address. */
export function writeAddress(state) {
  const said = new URLSearchParams();
  said.set("story", state.sentences.filter((text) => text.trim()).join("\n"));
  if (state.question) said.set("question", state.question);
  if (state.at !== null) said.set("at", state.at);
  if (state.view !== "memory") said.set("view", state.view);
  if (state.part !== "e1") said.set("part", state.part);
  if (state.view === "beside") {
    if (state.other) said.set("other", state.other);
    if (state.off) said.set("off", state.off.join(","));
  }
  if (state.known?.task) {
    said.set("task", state.known.task);
    said.set("seed", state.known.seed);
  }
  history.replaceState(null, "", `#${said}`);
}
