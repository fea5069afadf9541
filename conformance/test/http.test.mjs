// The HTTP edge: methods, paths, media types, sizes, hosts, and the plain routes.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after, before } from "node:test";
import { mediaType, request } from "../lib/http.mjs";
import { alive, input, legal, post, refused } from "../lib/probe.mjs";
import { startDemo } from "../lib/server.mjs";

const BODY_LIMIT = 4 * 1024 * 1024;

let demo, url;
before(async () => { demo = await startDemo(); url = `${demo.url}/agui`; });
after(() => demo.stop());

const get = (path, headers = {}) => request(demo.url + path, { method: "GET", headers });

for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
  test(`${method} on a run route is refused and names POST`, async () => {
    const answer = await request(url, { method, headers: { "content-type": "application/json" }, body: method === "GET" ? undefined : JSON.stringify(input()) });
    refused(answer, 405);
    assert.match(answer.headers.allow ?? "", /POST/);
  });
}

test("an unknown path and an unknown agent are not found", async () => {
  refused(await post(`${demo.url}/no/such/path`, input()), 404);
  refused(await post(`${demo.url}/agents/nobody-${randomUUID()}`, input()), 404);
});

for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
  test(`a body declared as ${type} is refused`, async () => {
    refused(await post(url, input(), { headers: { "content-type": type } }), 415);
  });
}

test("a body above the limit is refused and one below it is served", async () => {
  const sized = (size) => input({ messages: [{ id: "m1", role: "user", content: "x".repeat(size) }] });
  const answer = await post(url, sized(BODY_LIMIT + 1024));
  // The server may close before all was sent; the client then may not see the status.
  if (answer.status !== 0) refused(answer, 413);
  const body = sized(BODY_LIMIT - 4096);
  legal(await post(url, body), body);
});

test("a foreign Host is refused by a loopback server", async () => {
  refused(await post(url, input(), { headers: { host: "evil.example:80" } }), 421);
});

test("a browser on another site is refused", async () => {
  refused(await post(url, input(), { headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" } }), 403);
  await alive(url);
});

test("the server says that it lives and is ready", async () => {
  for (const path of ["/healthz", "/readyz"]) assert.equal((await get(path)).status, 200, path);
  const metrics = await get("/metrics");
  assert.equal(metrics.status, 200);
  assert.match(metrics.body.toString(), /^# TYPE /m);
});

test("agents are listed and each describes itself", async () => {
  const list = JSON.parse((await get("/agents")).body.toString());
  const agents = Array.isArray(list) ? list : list.agents;
  assert.ok(agents.length > 0);
  for (const { name } of agents) {
    const answer = await get(`/agents/${encodeURIComponent(name)}`);
    assert.equal(answer.status, 200, name);
    assert.equal(typeof JSON.parse(answer.body.toString()).capabilities, "object", name);
  }
});

test("the API describes itself as OpenAPI", async () => {
  const answer = await get("/openapi.json");
  assert.equal(mediaType(answer.headers["content-type"]), "application/json");
  const { openapi, paths } = JSON.parse(answer.body.toString());
  assert.match(openapi, /^3\./);
  for (const path of ["/agents/{name}", "/runs/{runId}/cancel"]) assert.ok(path in paths, `${path} is not described`);
});

test("the web page comes under a strict policy and from one place", async () => {
  const answer = await get("/", { accept: "text/html" });
  assert.equal(answer.status, 200);
  assert.equal(mediaType(answer.headers["content-type"]), "text/html");
  const policy = answer.headers["content-security-policy"] ?? "";
  assert.match(policy, /default-src 'none'|default-src 'self'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|\*/);
  assert.doesNotMatch(answer.body.toString(), /<(script|link|img|iframe)[^>]*(src|href)="(https?:)?\/\//);
});
