// assistant-ui's chat against the agent's AG-UI endpoint, in a browser.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startAgent } from "../support/agent.mjs";
import { serveFolder } from "../support/site.mjs";
import { launch, visit } from "../support/visitor.mjs";

let site, agent, browser, visitor;
before(async () => {
  site = await serveFolder(fileURLToPath(new URL("dist", import.meta.url)));
  agent = await startAgent({ origins: [site.url] });
  browser = await launch(chromium);
  visitor = await visit(browser, `${site.url}/?url=${agent.url}/agents/interop`);
});
after(async () => {
  await browser?.close();
  await agent?.stop();
  await site?.close();
});

test("an answer streams", () => visitor.say("hello", /You said: 'hello'/));
test("the page's tool is offered", () => visitor.sees(/1 client tools \["change_background"\]/));
test("the agent's state is shown", () => visitor.seesState(/"turns":1/));
test("the page's state is sent", async () => {
  await visitor.press("setstate");
  await visitor.say("second", /You said: 'second'.*fromUi/);
});
test("a tool of the server is rendered", async () => {
  await visitor.say("weather please", /sunny in Paris/);
  await visitor.seesPart("tool-get_weather");
});
test("a tool of the page runs and its result goes on", async () => {
  await visitor.say("change background color", /The browser tool answered: \{"ok":true/);
  assert.match(await visitor.part("page").getAttribute("style"), /linear-gradient/);
});
test("a predicted state is shown and stays", async () => {
  await visitor.say("recipe please", /Here is your recipe/);
  await visitor.seesState(/Pecorino/);
});
test("reasoning is shown", async () => {
  await visitor.say("think hard", /After thinking: 42/);
  await visitor.seesPart("reasoning");
});
test("hostile text stays text", async () => {
  await visitor.say("xss", /Hello/);
  await visitor.seesPart("idle");
  assert.equal(await visitor.page.evaluate(() => window.__xss), undefined);
});
test("a failed run is shown as one", async () => {
  await visitor.say("crash", /About to fail/);
  await visitor.seesPart("error");
});
test("an approval is asked for", async () => {
  await visitor.say("delete file");
  await visitor.seesPart("approval");
  await visitor.sees(/Delete report\.txt\?/);
});
test("an approval is delivered", async () => {
  await visitor.press("approve");
  await visitor.sees(/Decision received: \{"approved":true/);
  assert.equal(await visitor.part("approval").count(), 0);
});
test("a declined call is told to the agent", async () => {
  await visitor.say("delete another file");
  await visitor.seesPart("approval");
  await visitor.press("decline");
  await visitor.until(async () => (await visitor.text()).match(/Decision received/g)?.length === 2, "the second decision");
  assert.equal((await visitor.text()).match(/Decision received: \{"approved":true/g).length, 1);
});
test("the thread goes on", () => visitor.say("hello after", /You said: 'hello after'/));
