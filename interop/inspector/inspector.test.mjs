// agui-inspector, served by app.py, in a browser. Each test has a page, and with it a thread, of its own.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";
import { startAgent } from "../support/agent.mjs";
import { launch } from "../support/visitor.mjs";
import { Inspector } from "./inspector.mjs";
import { startInspector } from "./start.mjs";

let agent, served, browser;
before(async () => {
  agent = await startAgent();
  served = await startInspector(agent.url);
  browser = await launch(chromium);
});
after(async () => {
  await browser?.close();
  await served?.stop();
  await agent?.stop();
});

function inspects(name, steps) {
  test(name, async () => {
    const page = await Inspector.open(browser, served.url);
    await steps(page);
    await page.leave();
  });
}

/** Goes to where a call waits for a person. */
async function asked(page) {
  await page.say("delete file");
  await page.came(1, "interrupted");
  await page.sees(/Delete report\.txt\?/);
  await page.verified(1, "RUN_FINISHED");
}

/** What the tool's card says after the answer. */
async function answered(page) {
  await page.came(2, "finished");
  await page.verified(2, "RUN_FINISHED");
  const { resume } = page.answers[1].request().postDataJSON();
  return { resume: resume[0], card: await page.page.locator("[data-entry=tool]").innerText() };
}

inspects("the page opens with the server's agents and what they declare", async (page) => {
  await page.show("Settings");
  await page.sees(/Shows each situation of the protocol on a word/);
  await page.sees(/approvals\s*: true/);
});

inspects("a run shows its events and the state they end in", async (page) => {
  await page.say("recipe please");
  await page.came(1, "finished");
  await page.sees(/Here is your recipe: Classic Carbonara has 4 ingredients/);
  await page.verified(1, "RUN_FINISHED");
  const events = await page.events(1);
  assert.equal(events[0], "RUN_STARTED");
  for (const type of ["TOOL_CALL_ARGS", "STATE_DELTA", "TOOL_CALL_RESULT", "TEXT_MESSAGE_CONTENT"]) assert.ok(events.includes(type), type);
  const { turns, recipe } = await page.state();
  assert.equal(turns, 1);
  assert.equal(recipe.title, "Classic Carbonara");
  assert.equal(recipe.ingredients.length, 4);
});

inspects("the next run goes on with the thread and its state", async (page) => {
  await page.say("hello");
  await page.came(1, "finished");
  await page.say("hello again");
  await page.came(2, "finished");
  await page.verified(2, "RUN_FINISHED");
  assert.equal((await page.state()).turns, 2);
});

inspects("an approval is asked for and given", async (page) => {
  await asked(page);
  await page.fill(/^Answer for interrupt/, '{"approved": true}');
  await page.press(/^Resolve interrupt/);
  const { resume, card } = await answered(page);
  assert.deepEqual(resume.payload, { approved: true });
  assert.match(card, /"deleted": "report\.txt"/);
});

inspects("the answer that the inspector proposes declines", async (page) => {
  await asked(page);
  await page.press(/^Resolve interrupt/);
  const { resume, card } = await answered(page);
  assert.equal(resume.payload.approved, false);
  assert.match(card, /declined by a person$/m);
});

inspects("a cancelled interrupt leaves the call undone", async (page) => {
  await asked(page);
  await page.press(/^Cancel interrupt/);
  const { resume, card } = await answered(page);
  assert.equal(resume.status, "cancelled");
  assert.doesNotMatch(card, /"deleted"/);
});

inspects("a tool of the page is offered, called and answered", async (page) => {
  await page.show("Settings");
  await page.fill("Tool name", "change_background");
  await page.press("Add tool");
  await page.say("change background color");
  await page.fill(/^Result for change_background/, '{"ok":true}');
  await page.press(/^Submit result/);
  await page.came(2, "finished");
  await page.sees(/The browser tool answered: \{"ok":true\}/);
  await page.verified(2, "RUN_FINISHED");
});

inspects("a run that fails is shown as failed", async (page) => {
  await page.say("crash");
  await page.came(1, "error");
  await page.sees(/upstream_unavailable/);
  await page.verified(1, "RUN_ERROR");
});

inspects("a run is stopped by the person", async (page) => {
  await page.slowly();
  await page.say("slow");
  await page.until(async () => (await page.events(1)).includes("TEXT_MESSAGE_CONTENT"), "the beginning of the answer");
  await page.press("Stop");
  await page.came(1, "stopped");
});

inspects("protobuf is read as server-sent events are", async (page) => {
  await page.show("Settings");
  await page.press("Protobuf");
  await page.say("recipe please");
  await page.came(1, "finished");
  assert.match(await page.answers[0].headerValue("content-type"), /protobuf|ag-ui/);
  await page.verified(1, "RUN_FINISHED");
  assert.equal((await page.state()).recipe.title, "Classic Carbonara");
});

inspects("a thread is opened again by a request without messages", async (page) => {
  await asked(page);
  const { threadId } = page.answers[0].request().postDataJSON();
  const again = await Inspector.open(browser, served.url);
  await again.show("Raw request");
  await again.fill("Raw request body", JSON.stringify({ threadId, runId: "again", messages: [] }));
  await again.press("Send unchanged");
  await again.show("Frames");
  await again.verified(1, "RUN_FINISHED");
  assert.deepEqual(await again.events(1), ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  await again.sees(/interrupt · 1 waiting/);
  await again.leave();
});

test("a page of another site is refused", async () => {
  const headers = { "content-type": "application/json", origin: "https://elsewhere.example" };
  const body = JSON.stringify({ threadId: "other", runId: "other", messages: [{ id: "u1", role: "user", content: "hello" }] });
  const answer = await fetch(new URL("/agents/interop", served.url), { method: "POST", headers, body });
  assert.equal(answer.status, 403);
  assert.equal((await answer.json()).error.code, "cross_site");
});

test("the page for users shows this program", async () => {
  const program = await readFile(new URL("app.py", import.meta.url), "utf8");
  const page = await readFile(new URL("../../docs/clients.md", import.meta.url), "utf8");
  assert.ok(page.includes("```python\n" + program + "```\n"));
});
