// Raw HTTP with full control over method, headers, body and leaving early.
import http from "node:http";

export const SSE = "text/event-stream";
export const PROTO = "application/vnd.ag-ui.event+proto";

export const mediaType = (header) => (header ?? "").split(";")[0].trim().toLowerCase();

/**
 * Sends one request on its own connection. Never throws for what the server did.
 * Returns `{ status, headers, body, reads, error }`; `reads` counts the chunks the body came in.
 * `leaveAfter` closes the connection once that many body bytes have come.
 */
export function request(url, { method = "POST", headers = {}, body, timeoutMs = 30_000, leaveAfter } = {}) {
  return new Promise((resolve) => {
    const answer = { status: 0, headers: {}, reads: 0, error: undefined };
    const parts = [];
    let size = 0;
    let left = false;
    const finish = () => resolve({ ...answer, body: Buffer.concat(parts) });
    const fail = (error) => { if (!left) answer.error ??= error; finish(); };
    const sent = http.request(url, { method, headers, agent: false }, (res) => {
      answer.status = res.statusCode;
      answer.headers = res.headers;
      res.on("data", (data) => {
        parts.push(data);
        answer.reads += 1;
        size += data.length;
        if (leaveAfter !== undefined && size >= leaveAfter) { left = true; sent.destroy(); }
      });
      res.on("end", finish);
      res.on("error", fail);
      res.on("close", () => fail(new Error("the connection closed before the body ended")));
    });
    sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    sent.on("error", fail);
    sent.end(body);
  });
}
