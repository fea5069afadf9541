// The page against the demo, with each of its agents.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { comesTo, hears, isAccessible, launch, press, say, tab, talk, visit } from './support/browser.mjs';
import { HEADERS, pageServer } from './support/page-server.mjs';
import { demo } from './support/server.mjs';

let server;
let pages;
let browser;
before(async () => {
  server = await demo();
  pages = await pageServer(server.origin);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await pages?.close();
  await server?.close();
});

const open = async (agent, options) => {
  const visited = await visit(browser, `${pages.url}#/${agent}/t-${Math.random().toString(36).slice(2)}`, options);
  await comesTo(visited.page);
  return visited;
};

test('the demo serves the page itself, under the headers that these tests use', async () => {
  const { headers } = await fetch(server.origin());
  assert.equal(headers.get('content-security-policy'), HEADERS['content-security-policy']);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  const { page, wellBehaved, close } = await visit(browser, `${server.origin()}/`);
  await comesTo(page);
  wellBehaved();
  await close();
});

test('a recipe grows in the state pane, marked as predicted until it is settled', async () => {
  const { page, wellBehaved, close } = await open('recipe');
  await say(page, 'Create a carbonara recipe');
  await page.locator('.tree .badge').first().waitFor();
  await comesTo(page);
  assert.equal(await page.locator('.tree .badge').count(), 0);
  assert.match(await page.locator('.tree').innerText(), /Pecorino Romano/);
  await page.getByRole('button', { name: 'Diff', exact: true }).click();
  assert.match(await page.locator('.diff').innerText(), /\/recipe\/title/);
  await page.getByRole('button', { name: 'History', exact: true }).click();
  assert.equal(await page.locator('.history ol[aria-label] li').count(), 2);
  await isAccessible(page);
  wellBehaved();
  await close();
});

test('the next turn builds on the state, also on one that was edited by hand', async () => {
  const { page, wellBehaved, close } = await open('recipe');
  await say(page, 'Create a carbonara recipe');
  await comesTo(page, 'Running…');
  await comesTo(page);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('State as JSON').fill('{"recipe": {"title": "My own"}}');
  await page.getByRole('button', { name: 'Send 1 key' }).click();
  await page.locator('.tree').getByText('My own').waitFor();
  await page.reload();
  await comesTo(page);
  assert.match(await page.locator('.tree').innerText(), /My own/);
  await say(page, 'Make it vegetarian');
  await hears(page, 'I replaced the guanciale');
  assert.match(await page.locator('.tree').innerText(), /Carbonara Vegetariana/);
  wellBehaved();
  await close();
});

test('a tool of the page changes the background', async () => {
  const { page, wellBehaved, close } = await open('agentic_chat');
  await say(page, 'Change the background');
  await hears(page, 'The background is changed.');
  const background = () => page.evaluate(() => getComputedStyle(document.querySelector('main')).backgroundImage);
  assert.match(await background(), /linear-gradient/);
  await page.reload();
  await comesTo(page);
  await hears(page, 'The background is changed.');
  assert.match(await background(), /linear-gradient/);
  await isAccessible(page);
  wellBehaved();
  await close();
});

test('a person chooses among proposed steps', async () => {
  const { page, wellBehaved, close } = await open('human_in_the_loop');
  await say(page, 'Plan a picnic');
  await page.getByLabel('Step 2').uncheck();
  await isAccessible(page);
  await press(page, 'Go ahead with 4 steps');
  await hears(page, 'I\'m working on it');
  await page.locator('.tool summary').click();
  assert.doesNotMatch(await page.locator('.tool pre').nth(1).innerText(), /Step 2/);
  wellBehaved();
  await close();
});

test('steps can be rejected, also after a reload', async () => {
  const { page, close } = await open('human_in_the_loop');
  await say(page, 'Plan a picnic');
  await page.getByLabel('Step 2').waitFor();
  await page.reload();
  await press(page, 'Reject');
  await hears(page, 'What should I do differently?');
  await close();
});

test('a haiku is shown as a card', async () => {
  const { page, wellBehaved, close } = await open('tool_based_generative_ui');
  await say(page, 'A haiku, please');
  await hears(page, 'There is your haiku.');
  assert.match(await page.locator('.haiku').innerText(), /橋つなぐ道/);
  await isAccessible(page);
  wellBehaved();
  await close();
});

test('a tool that asks for a confirmation gets one', async () => {
  const { page, wellBehaved, close } = await open('predictive_state_updates');
  await say(page, 'Write a story');
  await comesTo(page, 'Waiting for you');
  await isAccessible(page);
  while ((await page.locator('.question').count()) > 0) {
    const hand = page.getByLabel('Result: JSON or text');
    if ((await hand.count()) > 0) {
      await hand.first().fill('written');
      await press(page, 'Send result');
    } else await press(page, 'Confirm');
  }
  await hears(page, 'Ok!');
  wellBehaved();
  await close();
});

test('threads are listed, found, renamed and deleted', async () => {
  const { page, close } = await open('agentic_chat');
  await say(page, 'Hello unicorn');
  await hears(page, 'I am counting down');
  const row = page.locator('.thread', { hasText: 'Hello unicorn' });
  await row.waitFor();
  await page.getByLabel('Search threads').fill('unicorn');
  assert.equal(await page.locator('.thread').count(), 1);
  await page.getByLabel('Search threads').fill('');
  await row.hover();
  await row.getByRole('button', { name: /^Rename/ }).click();
  await page.getByLabel('Title').fill('Renamed pegasus');
  await page.getByLabel('Title').press('Enter');
  const renamed = page.locator('.thread', { hasText: 'Renamed pegasus' });
  await renamed.waitFor();
  await page.reload();
  await renamed.waitFor();
  await renamed.hover();
  await renamed.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await renamed.waitFor({ state: 'detached' });
  assert.doesNotMatch(await talk(page), /unicorn/);
  await close();
});

test('every tab of the inspector shows something, on the desktop and at 320 pixels', async () => {
  const { page, wellBehaved, close } = await open('backend_tool_rendering');
  await say(page, 'What is the weather in Tokyo?');
  await hears(page, 'There you are.');
  await comesTo(page);
  for (const width of [1360, 320]) {
    await page.setViewportSize({ width, height: 700 });
    await page.waitForTimeout(200);
    const inspector = page.getByRole('button', { name: 'Inspector' });
    if ((await inspector.getAttribute('aria-expanded')) === 'false') await inspector.click();
    for (const [name, holds] of [['State', /empty|\{/], ['Events', /RUN_FINISHED/], ['Timeline', /get_weather/], ['Request', /threadId/], ['Agent', /get_weather/]]) {
      await tab(page, name);
      await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('.pane').textContent), holds.source);
      await isAccessible(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name} is ${wide} too wide at ${width}`);
    }
  }
  wellBehaved();
  await close();
});

test('an approval is given, and one is refused with other words for the agent', async () => {
  const { page, wellBehaved, close } = await open('approval');
  await say(page, 'Delete the customer');
  await comesTo(page, 'Waiting for you');
  await isAccessible(page);
  await press(page, 'Approve');
  await hears(page, 'The customer is deleted.');
  await comesTo(page);
  await say(page, 'And again');
  await press(page, 'Decline');
  await hears(page, 'I left the customer alone.');
  wellBehaved();
  await close();
});

test('three approvals are answered in any order, and one answer can be changed before they go out', async () => {
  const { page, wellBehaved, close } = await open('approvals');
  await say(page, 'Send the invitations');
  await comesTo(page, 'Waiting for you');
  assert.equal(await page.locator('.question').count(), 3);
  const third = page.locator('.question', { hasText: 'everyone@example.com' }).first();
  await press(page, 'Approve', third);
  await press(page, 'Change', third);
  await press(page, 'Decline', third);
  await isAccessible(page);
  await press(page, 'Approve');
  await press(page, 'Approve');
  await hears(page, 'That is what became of the mails.');
  await comesTo(page);
  wellBehaved();
  await close();
});

test('a document that waits for its confirmation is marked as predicted, and a refusal takes it back', async () => {
  const { page, wellBehaved, close } = await open('confirmation');
  await say(page, 'Write about a walk');
  await comesTo(page, 'Waiting for you');
  assert.match(await page.locator('.tree').innerText(), /behind the mill/);
  assert.ok((await page.locator('.tree .badge').count()) > 0);
  await press(page, 'Decline');
  await hears(page, 'I took the draft back.');
  await comesTo(page);
  assert.doesNotMatch(await page.locator('.pane').innerText(), /behind the mill/);
  await say(page, 'Write about a walk');
  await press(page, 'Approve');
  await hears(page, 'The document is kept.');
  assert.match(await page.locator('.tree').innerText(), /behind the mill/);
  assert.equal(await page.locator('.tree .badge').count(), 0);
  wellBehaved();
  await close();
});

test('a token is asked for in a private form', async () => {
  const { page, wellBehaved, close } = await open('private_token');
  await say(page, 'Connect my account');
  await comesTo(page, 'Waiting for you');
  await isAccessible(page);
  const input = page.locator('.question input').first();
  assert.equal(await input.getAttribute('type'), 'password');
  await input.fill('canary-token-of-the-demo');
  await press(page, 'Send privately');
  await hears(page, 'the token is stored');
  assert.ok(!(await page.content()).includes('canary-token-of-the-demo'));
  wellBehaved();
  await close();
});

test('a verification goes on by itself, also after a reload', async () => {
  const { page, wellBehaved, close } = await open('verification');
  await say(page, 'Verify my identity');
  await comesTo(page, 'Waiting for another system');
  await isAccessible(page);
  await page.reload();
  await comesTo(page, 'Waiting for another system');
  await hears(page, 'Your identity is verified.');
  wellBehaved();
  await close();
});

test('a reload while the recipe grows goes on with it', async () => {
  const { page, wellBehaved, close } = await open('recipe');
  await say(page, 'Create a carbonara recipe');
  await page.locator('.tree .badge').first().waitFor();
  await page.reload();
  await hears(page, 'Here\'s your recipe!');
  await comesTo(page);
  assert.match(await page.locator('.tree').innerText(), /Pecorino Romano/);
  wellBehaved();
  await close();
});

test('something else can be said instead of an answer', async () => {
  const { page, wellBehaved, close } = await open('approval');
  await say(page, 'Delete the customer');
  await comesTo(page, 'Waiting for you');
  await page.getByLabel('Message').fill('Delete another one');
  await page.getByRole('button', { name: 'Cancel the question and send this' }).click();
  await hears(page, 'Delete another one');
  await comesTo(page, 'Waiting for you');
  assert.equal(await page.locator('.question').count(), 1);
  await isAccessible(page);
  wellBehaved();
  await close();
});
