// Debian's Chromium, driven by playwright-core, with everything that a page must not do written down.
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

export async function launch() {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** A page on its own context. `faults` collects console errors, page errors and requests elsewhere. */
export async function visit(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  const faults = [];
  const elsewhere = [];
  const origin = new URL(url).origin;
  page.on('console', (message) => {
    // A refused or failed request is logged by the browser itself; the page says it in words.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) elsewhere.push(request.url());
  });
  await page.goto(url);
  return { page, context, faults, elsewhere, close: () => context.close() };
}

export const status = (page) => page.locator('.status');

export async function ready(page, words = 'Ready') {
  await page.waitForFunction((wanted) => document.querySelector('.status')?.textContent === wanted, words, { timeout: 15_000 });
}

export async function say(page, text) {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
}

/** What the conversation says, as text. */
export const talk = (page) => page.locator('.log').innerText();
