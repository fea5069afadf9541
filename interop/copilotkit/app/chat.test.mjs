// CopilotKit's chat against the agent, in a browser: through the agent's own runtime wire, straight to its AG-UI
// endpoint, and through CopilotKit's Node runtime.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after, before, describe } from "node:test";
import { chromium } from "playwright-core";
import { startAgent } from "../../support/agent.mjs";
import { launch, visit } from "../../support/visitor.mjs";
import { startSite } from "./site.mjs";

let site, agent, browser;
before(async () => {
  site = await startSite();
  agent = await startAgent({ origins: [site.url] });
  site.leadTo(`${agent.url}/agents/interop`);
  browser = await launch(chromium);
});
after(async () => {
  await browser?.close();
  await agent?.stop();
  await site?.close();
});

const WAYS = {
  "the agent's runtime wire": () => `runtime=${agent.url}/copilotkit`,
  "the agent's runtime wire at one endpoint": () => `runtime=${agent.url}/copilotkit&single`,
  "the AG-UI endpoint": () => `direct=${agent.url}/agents/interop`,
  "CopilotKit's Node runtime": () => "",
};

for (const [name, query] of Object.entries(WAYS)) {
  describe(`a chat through ${name}`, () => {
    let visitor;
    before(async () => { visitor = await visit(browser, `${site.url}/?${query()}`); });
    after(() => visitor?.leave());

    test("an answer streams", () => visitor.say("hello", /You said: 'hello'/));
    test("the page's tool and context are offered", () => visitor.sees(/1 client tools \["change_background"\] and [1-9] context/));
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
    test("the thread goes on", () => visitor.say("hello after", /You said: 'hello after'/));
    test("a question in the old way is shown", async () => {
      await visitor.say("legacy");
      await visitor.seesPart("approval");
    });
    test("an answer in the old way is delivered", async () => {
      await visitor.press("approve");
      await visitor.sees(/Legacy resume received: \{"approved":true\}/);
    });
    test("hostile text stays text", async () => {
      await visitor.say("xss", /Hello/);
      await visitor.say("hello at last", /You said: 'hello at last'/);
      assert.equal(await visitor.page.evaluate(() => window.__xss), undefined);
    });
    test("reasoning and a failed run leave the chat usable", async () => {
      await visitor.say("think", /After thinking: 42/);
      await visitor.say("crash", /About to fail/);
      await visitor.say("hello once more", /You said: 'hello once more'/);
    });
  });
}

describe("a page that is loaded again", () => {
  let visitor;
  before(async () => { visitor = await visit(browser, `${site.url}/?runtime=${agent.url}/copilotkit&thread=${randomUUID()}`); });
  after(() => visitor?.leave());

  test("has an approval before", async () => {
    await visitor.say("recipe please", /Here is your recipe/);
    await visitor.say("delete file");
    await visitor.seesPart("approval");
    await visitor.page.reload();
  });
  test("shows the history", () => visitor.sees(/recipe please/));
  test("shows the state", () => visitor.seesState(/Pecorino/));
  test("shows the approval that is still open", () => visitor.seesPart("approval"));
  test("delivers the approval", async () => {
    await visitor.press("approve");
    await visitor.sees(/Decision received: \{"approved":true/);
  });
  test("shows no approval that was answered", async () => {
    await visitor.page.reload();
    await visitor.sees(/Decision received/);
    await visitor.page.waitForTimeout(1000);
    assert.equal(await visitor.part("approval").count(), 0);
  });
  test("follows a run that is at work", async () => {
    await visitor.say("slow", /This is a slow answer/);
    await visitor.page.reload();
    await visitor.sees(/This is a slow answer/);
    await visitor.say("hello again", /You said: 'hello again'/);
  });
});
