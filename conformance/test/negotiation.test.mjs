// Which binding answers which Accept header, and which dialect which version.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { PROTO, SSE, mediaType, request } from "../lib/http.mjs";
import { input, legal, post, refused } from "../lib/probe.mjs";
import { startDemo } from "../lib/server.mjs";

let demo, url;
before(async () => { demo = await startDemo(); url = `${demo.url}/agui`; });
after(() => demo.stop());

// Programs that ask for JSON by habit get SSE too: its frames hold JSON.
const SERVED_AS_SSE = [SSE, "application/json", "*/*", "text/*", `${PROTO};q=0, ${SSE}`, `${SSE};q=1, ${PROTO};q=0.1`, `${PROTO};q=0.1, */*`, `application/json, ${SSE}`];
const SERVED_AS_PROTOBUF = [PROTO, `${PROTO}, ${SSE}`, `${SSE}, ${PROTO}`, `${SSE};q=0.5, ${PROTO};q=0.5`, `${SSE};q=0.4, ${PROTO};q=0.8`];
const SERVED_BY_NEITHER = ["image/png", `${SSE};q=0`, "text/html, application/xml;q=0.9"];

for (const [type, accepts] of [[SSE, SERVED_AS_SSE], [PROTO, SERVED_AS_PROTOBUF]]) {
  for (const accept of accepts) {
    test(`"${accept}" is answered with ${type}`, async () => {
      const body = input();
      const answer = await post(url, body, { headers: { accept } });
      assert.equal(mediaType(answer.headers["content-type"]), type);
      legal(answer, body);
    });
  }
}

for (const accept of SERVED_BY_NEITHER) {
  test(`"${accept}" is not acceptable`, async () => {
    refused(await post(url, input(), { headers: { accept } }), 406);
  });
}

test("no Accept header is answered with SSE", async () => {
  const body = input();
  const answer = await request(url, { headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  assert.equal(mediaType(answer.headers["content-type"]), SSE);
  legal(answer, body);
});

test("both bindings carry the same run", async () => {
  const [plain, binary] = await Promise.all([SSE, PROTO].map(async (accept) => {
    const body = input({ messages: [{ id: "m1", role: "user", content: "Hello" }] });
    return legal(await post(url, body, { headers: { accept } }), body).events;
  }));
  assert.deepEqual(binary.map((e) => e.type), plain.map((e) => e.type));
  const text = (events) => events.filter((e) => e.type === "TEXT_MESSAGE_CONTENT").map((e) => e.delta);
  assert.deepEqual(text(binary), text(plain));
});

for (const protocolVersion of ["1.0", "1.1", "1.99"]) {
  test(`a consumer of ${protocolVersion} is served in our version`, async () => {
    const body = input({ protocolVersion });
    const { events } = legal(await post(url, body), body);
    assert.equal(events[0].protocolVersion, "1.0");
  });
}

test("a consumer that names no version is served in the older dialect", async () => {
  const body = input();
  delete body.protocolVersion;
  legal(await post(url, body), body);
});

for (const protocolVersion of ["banana", "99.0"]) {
  test(`a consumer of "${protocolVersion}" is served or refused, not broken`, async () => {
    const body = input({ protocolVersion });
    const answer = await post(url, body);
    if (answer.status === 200) legal(answer, body);
    else refused(answer, 400);
  });
}
