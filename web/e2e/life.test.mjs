// Situations that an honest server brings rarely: errors, cuts, refusals, floods, and people who click
// and type at the wrong moment.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { comesTo, hears, isAccessible, launch, press, say, settles, tab, talk, until, visit, write } from './support/browser.mjs';
import { calls, fakeAgent, says } from './support/fake-agent.mjs';
import { life } from './support/life.mjs';
import { pageServer } from './support/page-server.mjs';

let fake;
let isAway = false;
let pages;
let browser;
before(async () => {
  fake = await fakeAgent({ agents: { life, flood, looping }, describe: () => ({ description: 'Whatever can happen.' }) });
  pages = await pageServer(() => (isAway ? undefined : fake.url));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await pages?.close();
  await fake?.close();
});

let count = 0;
const open = async (agent = 'life', options) => {
  count += 1;
  const visited = await visit(browser, `${pages.url}#/${agent}/thread-${count}`, options);
  await comesTo(visited.page);
  return visited;
};
const runs = (thread) => fake.requests.filter(({ input }) => input?.threadId === thread && (input.messages.length > 0 || input.resume?.length > 0));

function flood({ text }) {
  if (text === 'long') return says(`${'A sentence of the long answer, with **bold** words. '.repeat(12)}\n\n`.repeat(160), { piece: 12 });
  if (text === 'nested') return says(`${'> '.repeat(3000)}deep\n\n${'[['.repeat(3000)}\n\n${'**a '.repeat(3000)}`, { piece: 5000 });
  const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`key${index}`, 'x'.repeat(200)]));
  return [{ type: 'STATE_SNAPSHOT', snapshot: { wide, text: 'y'.repeat(900_000) } }, ...calls('tool', { huge: 'z'.repeat(300_000) }, { result: 'r'.repeat(300_000) })];
}

function looping() {
  return calls('change_background', { background: 'teal' });
}

test('a failed run says what and why, and is asked again', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'error');
  await comesTo(page, 'Failed');
  assert.match(await page.getByRole('alert').innerText(), /The model is overloaded\./);
  assert.match(await page.getByRole('alert').innerText(), /provider_overloaded/);
  await page.reload();
  await comesTo(page, 'Failed');
  await page.getByRole('button', { name: 'Retry' }).click();
  await until(() => runs(`thread-${count}`).length === 2);
  await comesTo(page, 'Failed');
  const [first, again] = runs(`thread-${count}`);
  assert.deepEqual(again.input.messages, first.input.messages);
  await isAccessible(page);
  wellBehaved();
  await close();
});

test('a refusal is shown in the server’s words', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'refuse');
  await comesTo(page, 'Failed');
  assert.match(await page.getByRole('alert').innerText(), /the message is too long/);
  wellBehaved();
  await close();
});

for (const [word, what] of [['cut', 'is cut'], ['end', 'ends without its last event']]) {
  test(`a stream that ${what} is no success`, async () => {
    const { page, wellBehaved, close } = await open();
    await say(page, word);
    await comesTo(page, 'Failed');
    assert.match(await page.getByRole('alert').innerText(), /connection was lost/);
    wellBehaved();
    await close();
  });
}

test('a stream that breaks the protocol is called so', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'illegal');
  await comesTo(page, 'Failed');
  assert.match(await page.getByRole('alert').innerText(), /protocol does not allow/);
  wellBehaved();
  await close();
});

test('a server that goes away is waited for; nothing typed is lost', async () => {
  const { page, close } = await open();
  await say(page, 'Hello');
  await comesTo(page);
  isAway = true;
  pages.cut();
  await page.getByLabel('Message').fill('still here');
  await comesTo(page, 'Reconnecting…');
  assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled());
  isAway = false;
  await comesTo(page);
  assert.equal(await page.getByLabel('Message').inputValue(), 'still here');
  await page.getByLabel('Message').press('Enter');
  await hears(page, 'You said: still here');
  await close();
});

test('neither Enter nor a click that comes at once answers a question', async () => {
  const { page, close } = await open();
  const thread = `thread-${count}`;
  await page.getByLabel('Message').fill('delete');
  await page.getByLabel('Message').press('Enter');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.evaluate(() => [...document.querySelectorAll('.question button')].forEach((button) => button.click()));
  for (let press = 0; press < 5; press += 1) await page.keyboard.press('Enter');
  await page.getByLabel('Message').fill('yes');
  await page.getByLabel('Message').press('Enter');
  await page.waitForTimeout(800);
  await page.getByLabel('Message').press('Enter');
  assert.equal(await page.locator('.status').innerText(), 'Waiting for you');
  assert.equal(runs(thread).length, 1);
  assert.equal(await page.getByLabel('Message').inputValue(), 'yes');
  await close();
});

test('everything can be done with the keyboard alone', async () => {
  const { page, close } = await open();
  await page.getByLabel('Message').focus();
  await page.keyboard.type('delete');
  await page.keyboard.press('Enter');
  await comesTo(page, 'Waiting for you');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Approval needed/);
  await settles(page);
  const names = [];
  for (let step = 0; step < 8 && names.at(-1) !== 'Decline'; step += 1) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate(() => document.activeElement.textContent));
  }
  await page.keyboard.press('Enter');
  await hears(page, 'You declined.');
  await close();
});

test('an expired question can only be let go', async () => {
  const { page, close } = await open();
  const soon = fake.threads;
  await say(page, 'delete');
  await comesTo(page, 'Waiting for you');
  soon.get(`thread-${count}`).open[0].expiresAt = new Date(Date.now() - 1000).toISOString();
  await page.reload();
  await comesTo(page, 'Waiting for you');
  assert.match(await page.locator('.question').innerText(), /expired/);
  assert.ok(await page.getByRole('button', { name: 'Approve' }).isDisabled());
  await press(page, 'Cancel');
  await hears(page, 'You cancelled.');
  await close();
});

test('a form sends what its schema asks for', async () => {
  const { page, close } = await open();
  const thread = `thread-${count}`;
  await say(page, 'form');
  await page.getByLabel('Seat').selectOption({ label: 'Aisle' });
  await page.getByLabel('Bags').fill('2');
  await page.getByLabel('With a meal').check();
  await press(page, 'Send answer');
  await hears(page, 'You answered.');
  assert.deepEqual(runs(thread).at(-1).input.resume[0].payload, { seat: 'Aisle', bags: 2, meal: true });
  await close();
});

test('a private answer carries neither messages nor state', async () => {
  const { page, close } = await open();
  await say(page, 'private');
  await page.getByLabel('Access token').fill('canary-value');
  await press(page, 'Send privately');
  await hears(page, 'You answered.');
  const { input } = fake.requests.findLast(({ input: sent }) => sent?.resume?.length > 0);
  assert.deepEqual([input.messages, input.state], [[], {}]);
  await say(page, 'Hello');
  await hears(page, 'You said: Hello');
  assert.ok(!(await page.content()).includes('canary-value'));
  await close();
});

test('a thread is renamed in place', async () => {
  const { page, close } = await open();
  await say(page, 'rename me');
  const row = page.locator('.thread', { hasText: 'rename me' });
  await row.hover();
  await row.getByRole('button', { name: /^Rename/ }).click();
  await page.getByLabel('Title').fill('A better name');
  await page.getByLabel('Title').press('Enter');
  await page.locator('.thread', { hasText: 'A better name' }).waitFor();
  assert.equal(fake.threads.get(`thread-${count}`).title, 'A better name');
  await close();
});

test('an agent that calls tools of the page for ever is stopped', async () => {
  const { page, close } = await open('looping');
  await say(page, 'go');
  await comesTo(page, 'Failed');
  assert.match(await page.getByRole('alert').innerText(), /keeps calling tools/);
  assert.ok(runs(`thread-${count}`).length < 30);
  await close();
});

for (const what of ['long', 'nested', 'huge']) {
  test(`a ${what} answer leaves the page usable`, async () => {
    const { page, wellBehaved, close } = await open('flood');
    await say(page, what);
    await comesTo(page);
    for (const name of ['State', 'Events', 'Timeline']) await tab(page, name);
    const began = Date.now();
    await page.getByLabel('Message').fill('next');
    assert.ok(Date.now() - began < 1500);
    assert.ok((await page.content()).length < 3_000_000);
    wellBehaved();
    await close();
  });
}

test('both themes, a narrow screen and reduced motion pass the accessibility rules', async () => {
  for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { viewport: { width: 320, height: 640 } }, { reducedMotion: 'reduce' }]) {
    const { page, wellBehaved, close } = await open('life', options);
    await isAccessible(page);
    await say(page, 'markdown');
    await comesTo(page);
    await say(page, 'think');
    await comesTo(page);
    await say(page, 'two edit');
    await comesTo(page, 'Waiting for you');
    await isAccessible(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    if (options.reducedMotion !== undefined) assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    wellBehaved();
    await close();
  }
});

test('the page says what it asked for as a curl command', async () => {
  const { page, close } = await open('life', { permissions: ['clipboard-read', 'clipboard-write'] });
  await say(page, "It's me");
  await hears(page, "You said: It's me");
  await tab(page, 'Request');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const line = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(line, /^curl -N 'http:\/\/127\.0\.0\.1:\d+\/agents\/life'/);
  assert.match(line, /It'\\''s me/);
  assert.match(await talk(page), /It's me/);
  await close();
});

test('what a busy thread did not take goes back to where it was written', async () => {
  const { page, close } = await open();
  await say(page, 'Hello');
  await hears(page, 'You said: Hello');
  await write(page, 'busy');
  await page.waitForFunction(() => document.querySelector('textarea').value === 'busy');
  await comesTo(page, 'Failed');
  assert.match(await page.getByRole('alert').innerText(), /active run/);
  await close();
});

test('what is typed into a form survives a restart of the server', async () => {
  const { page, close } = await open();
  await say(page, 'form');
  await page.getByLabel('Remark').fill('By the window');
  isAway = true;
  pages.cut();
  await comesTo(page, 'Reconnecting…');
  isAway = false;
  await comesTo(page, 'Waiting for you');
  assert.equal(await page.getByLabel('Remark').inputValue(), 'By the window');
  await close();
});
