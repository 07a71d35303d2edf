// The explorer's HTTP interface; /api/openapi.json describes it.

/** Ask for something; `body` makes it a POST. What is refused is thrown, with the server's words. */
export async function call(address, body, signal) {
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
