// The page against the real server: the whole life of a conversation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { comesTo, hears, launch, press, say, tab, talk, visit } from './support/browser.mjs';
import { pageServer } from './support/page-server.mjs';
import { office, TOKENS } from './support/server.mjs';

let server;
let pages;
let browser;
before(async () => {
  server = await office();
  pages = await pageServer(server.origin);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await pages?.close();
  await server?.close();
});

const open = async () => {
  const visited = await visit(browser, `${pages.url}#token=${TOKENS.user}`);
  await comesTo(visited.page);
  return visited;
};

test('a token in the address is taken out of it', async () => {
  const { page, wellBehaved, close } = await open();
  assert.ok(!page.url().includes(TOKENS.user));
  await say(page, 'Hello');
  await hears(page, 'I run this office.');
  wellBehaved();
  await close();
});

test('without a token the page asks for one, and goes on with it', async () => {
  const { page, close } = await visit(browser, pages.url);
  await page.getByLabel('Token').fill(TOKENS.user);
  await page.getByRole('button', { name: 'Continue' }).click();
  await comesTo(page);
  await close();
});

test('an approved call runs, and the card says what it is about', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'Please delete the customer');
  await comesTo(page, 'Waiting for you');
  const card = await page.locator('.question').innerText();
  assert.match(card, /Delete customer C-1042\?/);
  assert.match(card, /delete_customer/);
  assert.match(card, /expires in 1[45]:/);
  await press(page, 'Approve');
  await hears(page, 'The customer is deleted.');
  await comesTo(page);
  wellBehaved();
  await close();
});

test('a declined call does not run, and its reason reaches the agent', async () => {
  const { page, close } = await open();
  await say(page, 'Please delete the customer');
  await page.getByRole('button', { name: 'Add a reason' }).click();
  await page.getByLabel('Reason').fill('Wrong customer');
  await press(page, 'Decline');
  await comesTo(page);
  assert.doesNotMatch(await talk(page), /is deleted/);
  await page.locator('.tool summary').click();
  await page.locator('.tool').getByText('Wrong customer').waitFor();
  await close();
});

test('a cancelled call does not run', async () => {
  const { page, close } = await open();
  await say(page, 'Please delete the customer');
  await press(page, 'Cancel');
  await comesTo(page);
  assert.doesNotMatch(await talk(page), /is deleted/);
  await close();
});

test('a call can be approved with other arguments', async () => {
  const { page, close } = await open();
  await say(page, 'Please delete the customer');
  await page.getByRole('button', { name: 'Edit arguments' }).click();
  await page.getByLabel('Arguments to use instead').fill('{"id": "C-7"');
  assert.ok(await page.getByRole('button', { name: 'Approve with changes' }).isDisabled());
  await page.getByLabel('Arguments to use instead').fill('{"id": "C-7"}');
  await press(page, 'Approve with changes');
  await hears(page, 'The customer is deleted.');
  await close();
});

test('two questions are answered one by one and go out together', async () => {
  const { page, close } = await open();
  await say(page, 'Delete both');
  await comesTo(page, 'Waiting for you');
  assert.equal(await page.locator('.question').count(), 2);
  await press(page, 'Approve');
  await page.locator('.question').getByText('Goes out when').waitFor();
  assert.equal(await page.locator('.status').innerText(), 'Waiting for you');
  await press(page, 'Decline');
  await comesTo(page);
  await close();
});

test('a private value reaches the vault and stays nowhere in the page', async () => {
  const { page, wellBehaved, close } = await open();
  const secret = 'canary-5f2a-value';
  await say(page, 'Take my token');
  await page.getByLabel('Access token').fill(secret);
  await press(page, 'Send privately');
  await hears(page, 'The token is in the vault.');
  await comesTo(page);
  assert.ok(server.received.some(({ path, body }) => path === '/vault' && body.includes(secret)));
  for (const name of ['Events', 'Request', 'State', 'Timeline']) {
    await tab(page, name);
    const kept = await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + [...document.querySelectorAll('input, textarea')].map(({ value }) => value).join());
    assert.ok(!kept.includes(secret), name);
  }
  wellBehaved();
  await close();
});

test('the page waits for another system and goes on by itself', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'Please verify me');
  await comesTo(page, 'Waiting for another system');
  await page.locator('.log').getByText('kyc.verify').waitFor();
  const thread = decodeURIComponent(page.url().split('/').at(-1));
  const headers = { authorization: `Bearer ${TOKENS.user}` };
  const { open: waits } = await (await fetch(`${server.origin()}/sessions/${thread}/interactions`, { headers })).json();
  const completed = await fetch(`${server.origin()}/external-waits/${waits[0].id}/complete`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.service}`, 'content-type': 'application/json' },
    body: JSON.stringify({ result: { verified: true } }),
  });
  assert.equal(completed.status, 200);
  await hears(page, 'Your identity is verified.');
  await comesTo(page);
  wellBehaved();
  await close();
});

test('a reload in the middle of a run goes on with it', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'Tell me a story');
  await hears(page, 'Once upon a time');
  await page.reload();
  await comesTo(page, 'Running…');
  await hears(page, 'And that is the end of it.');
  await comesTo(page);
  const text = await talk(page);
  assert.equal(text.split('Once upon a time').length, 2);
  wellBehaved();
  await close();
});

test('a reload at rest shows the same conversation, also with a question open', async () => {
  const { page, close } = await open();
  await say(page, 'Hello');
  await comesTo(page);
  await say(page, 'Please delete the customer');
  await comesTo(page, 'Waiting for you');
  const before = (await talk(page)).replace(/expires in [\d:]+/, '');
  await page.reload();
  await comesTo(page, 'Waiting for you');
  assert.equal((await talk(page)).replace(/expires in [\d:]+/, ''), before);
  await press(page, 'Approve');
  await hears(page, 'The customer is deleted.');
  await close();
});

test('stop ends the run, and what was said stays', async () => {
  const { page, close } = await open();
  await say(page, 'Tell me a story');
  await hears(page, 'Once upon a time');
  await page.getByRole('button', { name: 'Stop' }).click();
  await comesTo(page);
  await page.locator('.notice').getByText('Stopped').waitFor();
  assert.doesNotMatch(await talk(page), /the end of it/);
  await close();
});

test('a server that was killed and started again is noticed, and a question can still be answered', async () => {
  const { page, wellBehaved, close } = await open();
  await say(page, 'Please delete the customer');
  await comesTo(page, 'Waiting for you');
  await server.kill();
  await comesTo(page, 'Reconnecting…');
  await server.start();
  await comesTo(page, 'Waiting for you');
  await press(page, 'Approve');
  await hears(page, 'The customer is deleted.');
  wellBehaved();
  await close();
});

test('a run that dies with the server is said to have failed, and can be asked again', async () => {
  const { page, close } = await open();
  await say(page, 'Tell me a story');
  await hears(page, 'Once upon a time');
  await server.kill();
  await comesTo(page, 'Reconnecting…');
  await server.start();
  await comesTo(page, 'Failed');
  await page.getByRole('button', { name: 'Retry' }).click();
  await hears(page, 'And that is the end of it.');
  await comesTo(page);
  await close();
});
