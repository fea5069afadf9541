// A mock model provider (OpenAI chat completions, streamed) that counts what it was asked.
import http from "node:http";

const ARGUMENT_CHUNK = 7;

/**
 * Starts a provider. `answer(messages)` gives the turn: `{ text }` or `{ calls: [{ id, name, arguments }] }`.
 * Returns `{ url, requests, stop }`; `requests` are the bodies that came.
 */
export async function startProvider(answer) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    const parts = [];
    for await (const part of req) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts));
    requests.push(body);
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const choice of choices(answer(body.messages))) {
      res.write(`data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "mock", choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, stop };
}

function* choices({ text, calls = [] }) {
  yield { delta: { role: "assistant", content: "" } };
  for (const word of text?.match(/\S+\s*/g) ?? []) yield { delta: { content: word } };
  for (const [index, call] of calls.entries()) {
    yield { delta: { tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] } };
    const written = JSON.stringify(call.arguments);
    for (let at = 0; at < written.length; at += ARGUMENT_CHUNK) {
      yield { delta: { tool_calls: [{ index, function: { arguments: written.slice(at, at + ARGUMENT_CHUNK) } }] } };
    }
  }
  yield { delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" };
}
