// The explorer's HTTP interface; /api/openapi.json describes it. A page that was saved with one story
// (`tpr-rnn explain`) has the answers with it.

const saved = JSON.parse(document.getElementById("saved")?.textContent ?? "null");

/** Whether this page shows one story, without a server. */
export const isSaved = saved !== null;

/** Ask for something; `body` makes it a POST. What is refused is thrown, with the server's words. */
export async function call(address, body, signal) {
  if (isSaved) return remembered(address, body);
  const request = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(address, { ...request, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The explorer does not answer. Is it still running?");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function remembered(address, body) {
  const [story, question] = saved.told;
  const other = body && JSON.stringify([body.story, body.question ?? question]) !== JSON.stringify([story, question]);
  if (other || !saved[address]) throw new Error("This page shows one story; tpr-rnn explore reads others.");
  return saved[address];
}
