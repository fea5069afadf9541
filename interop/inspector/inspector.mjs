// The inspector's page as the tests see it. A run is named by its number on the page, from 1.
import assert from "node:assert/strict";
import { visit } from "../support/visitor.mjs";

export class Inspector {
  /** Opens the page, on a browser profile of its own. */
  static async open(browser, url) {
    const visitor = await visit(browser, "about:blank");
    const inspector = new Inspector(visitor, new URL(url).origin);
    await visitor.page.goto(url);
    await visitor.input.waitFor();
    return inspector;
  }

  constructor(visitor, origin) {
    Object.assign(this, { visitor, page: visitor.page, elsewhere: [], answers: [] });
    this.page.on("request", (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (protocol !== "data:" && asked !== origin) this.elsewhere.push(request.url());
    });
    this.page.on("response", (response) => {
      if (response.request().method() === "POST") this.answers.push(response);
    });
  }

  async say(words) {
    await this.visitor.input.fill(words);
    await this.visitor.input.press("Enter");
  }

  /** A slow line from here on: a run stays open for long, however slow the machine is. */
  async slowly() {
    const session = await this.visitor.context.newCDPSession(this.page);
    const line = { offline: false, latency: 0, downloadThroughput: 1000, uploadThroughput: -1 };
    await session.send("Network.emulateNetworkConditions", line);
  }

  press(name) {
    return this.page.getByRole("button", { name, exact: typeof name === "string" }).click();
  }

  fill(label, text) {
    return this.page.getByLabel(label).fill(text);
  }

  /** Opens one of the panes on the right, or a view of one. */
  show(pane) {
    return this.press(pane);
  }

  until(holds, what) {
    return this.visitor.until(holds, what);
  }

  sees(expression) {
    return this.visitor.sees(expression);
  }

  /** Waits until a run of the conversation has come to this: finished, interrupted, error, stopped. */
  async came(run, status) {
    const entry = this.page.locator("[data-entry=run]").nth(run - 1);
    await this.until(async () => (await entry.count()) > 0 && (await entry.getAttribute("data-status")) === status, `run ${run}, ${status}`);
  }

  rows(run) {
    return this.page.locator(`[data-exchange=exchange-${run}] [data-frame-row]`);
  }

  /** The types of a run's events. The page lists those of the newest run. */
  events(run) {
    return this.rows(run).locator(".agui-fr-ty").allTextContents();
  }

  /** Waits for a run's last event, and for the inspector's own verifier, which has to find nothing. */
  async verified(run, last) {
    await this.until(async () => (await this.events(run)).at(-1) === last, `${last} of run ${run}`);
    const marks = this.rows(run).getByRole("img", { name: "Valid", includeHidden: true });
    await this.until(async () => (await marks.count()) === (await this.rows(run).count()), `the marks of run ${run}`);
    assert.equal(await this.page.locator("[data-issues-chip] .agui-count").textContent(), "0", await this.visitor.text());
  }

  /** The state that the page has made of the snapshots and the deltas. */
  async state() {
    await this.show("State");
    return JSON.parse(await this.page.getByRole("region", { name: "Current state" }).textContent());
  }

  /** Leaves the page, which must have been content and must have talked to its own origin only. */
  async leave() {
    await this.visitor.leave();
    assert.deepEqual(this.visitor.errors, []);
    assert.deepEqual(this.elsewhere, []);
  }
}
