// A person in front of a chat page: types, looks, presses, and waits for what should come.
import assert from "node:assert/strict";

const PATIENCE_MS = 20_000;
const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Starts Chromium through a test's own playwright-core. */
export const launch = (chromium) =>
  chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });

/** Opens a page on a context of its own. */
export async function visit(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  await page.goto(url);
  return new Visitor(context, page, errors);
}

export class Visitor {
  constructor(context, page, errors) {
    Object.assign(this, { context, page, errors });
  }

  get input() {
    return this.page.locator("textarea").first();
  }

  text() {
    return this.page.locator("body").innerText();
  }

  part(name) {
    return this.page.getByTestId(name);
  }

  /** Says something once the page is idle; with `answer`, waits until the page shows that. */
  async say(words, answer) {
    await this.input.waitFor({ timeout: PATIENCE_MS });
    await this.seesPart("idle");
    await this.input.fill(words);
    await this.input.press("Enter");
    if (answer) await this.sees(answer, `the answer to "${words}"`);
  }

  /** Waits until the page's text has what the expression describes. */
  async sees(expression, what = String(expression)) {
    await this.until(async () => expression.test(await this.text()), what);
  }

  async seesPart(name) {
    await this.until(async () => (await this.part(name).count()) > 0, `the part "${name}"`);
  }

  /** Waits until the state that the page shows has what the expression describes. */
  async seesState(expression) {
    await this.until(async () => expression.test(await this.part("state").innerText()), `the state ${expression}`);
  }

  async press(name) {
    await this.part(name).first().click({ timeout: PATIENCE_MS });
  }

  async until(holds, what) {
    const end = Date.now() + PATIENCE_MS;
    while (Date.now() < end) {
      if (await holds()) return;
      await this.page.waitForTimeout(100);
    }
    assert.fail(`${what} did not come; the page ends with:\n${(await this.text()).slice(-1200)}\nerrors:\n${this.errors.slice(-5).join("\n")}`);
  }

  leave() {
    return this.context.close();
  }
}
