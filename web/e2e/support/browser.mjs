// Debian's Chromium, driven by playwright-core, with everything that a page must not do written down.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** SLOW_FRAMES=600 draws a frame every 600 ms: what a test takes for granted in a quick browser shows then. */
const slow = Number(process.env.SLOW_FRAMES ?? 0);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function launch() {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** A page on its own context. `wellBehaved` fails on console errors, page errors and requests elsewhere. */
export async function visit(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  if (slow > 0) await context.addInitScript(drawSlowly, slow);
  const page = await context.newPage();
  const faults = [];
  const origin = new URL(url).origin;
  page.on('console', (message) => {
    // A refused or failed request is logged by the browser itself; the page says it in words.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) faults.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, context, wellBehaved: () => assert.deepEqual(faults, []), close: () => context.close() };
}

function drawSlowly(pause) {
  const draw = globalThis.requestAnimationFrame.bind(globalThis);
  const waiting = new Map();
  let last = 0;
  globalThis.requestAnimationFrame = (callback) => {
    waiting.set((last += 1), callback);
    return last;
  };
  globalThis.cancelAnimationFrame = (id) => waiting.delete(id);
  setInterval(() => draw((now) => {
    const callbacks = [...waiting.values()];
    waiting.clear();
    for (const callback of callbacks) callback(now);
  }), pause);
}

/** Waits until the header says these words. */
export async function comesTo(page, words = 'Ready') {
  await page.waitForFunction((wanted) => document.querySelector('.status')?.textContent === wanted, words, { timeout: 20_000 });
}

/** Writes a message and sends it. */
export async function write(page, text) {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
}

/** The same, and waits until it stands in the conversation; from then on the run is under way or over. */
export async function say(page, text) {
  const count = await page.locator('.user').count();
  await write(page, text);
  await page.locator('.user').nth(count).waitFor();
}

/** What the conversation says, as text. */
export const talk = (page) => page.locator('.log').innerText();

export async function hears(page, text) {
  await page.locator('.log').getByText(text).first().waitFor({ timeout: 20_000 });
}

/** What was clicked or told before is on the screen, and the questions take clicks. */
export async function settles(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForFunction(() => document.querySelector('[data-settling]') === null);
}

/** Presses a button of a question, of the first one that has it, and waits until it has been taken. */
export async function press(page, name, question = page.locator('.question')) {
  const button = question.getByRole('button', { name, exact: true }).first();
  await button.waitFor();
  await settles(page);
  const pressed = await button.elementHandle();
  await pressed.click();
  await page.waitForFunction((element) => !element.isConnected || element.offsetParent === null, pressed);
}

/** Waits for something that is not on the page. */
export async function until(holds) {
  for (const end = Date.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20))) {
    assert.ok(Date.now() < end, `waited in vain until ${holds}`);
  }
}

export const tab = (page, name) => page.getByRole('tab', { name }).click();

/** No finding of axe-core, on the page as it is. */
export async function isAccessible(page) {
  await page.evaluate(`${axe};0`);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(', ')}`);
  assert.deepEqual(found, []);
}
