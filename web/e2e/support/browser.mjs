// Debian's Chromium, driven by playwright-core, with everything that a page must not do written down.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
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

/** Presses a button of a question once it takes clicks. */
export async function press(page, name, index = 0) {
  const button = page.locator('.question').getByRole('button', { name, exact: true }).nth(index);
  await button.waitFor();
  await page.waitForTimeout(700);
  await button.click();
}

export const tab = (page, name) => page.getByRole('tab', { name }).click();

/** No finding of axe-core, on the page as it is. */
export async function isAccessible(page) {
  await page.evaluate(`${axe};0`);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(', ')}`);
  assert.deepEqual(found, []);
}
