// An agent server that means harm, in every field that is shown.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { comesTo, hears, isAccessible, launch, say, tab, talk, visit } from './support/browser.mjs';
import { calls, fakeAgent, says, snapshot } from './support/fake-agent.mjs';
import { pageServer } from './support/page-server.mjs';

let canary;
let beacons = 0;
let corpus;
let fake;
let pages;
let browser;

const attacks = (host) => [
  `<img src="${host}/img" onerror="window.__xss=1">`,
  `<script>window.__xss=1</script>`,
  `<svg onload="window.__xss=1"><style>@import "${host}/css"</style></svg>`,
  `"><iframe srcdoc="<script>parent.__xss=1</script>"></iframe>`,
  `<a href="javascript:window.__xss=1" ping="${host}/ping">x</a>`,
  `<link rel="prefetch" href="${host}/prefetch"><meta http-equiv="refresh" content="0;url=${host}/refresh">`,
  `<form action="${host}/form"><button>go</button></form><base href="${host}/">`,
  `![pixel](${host}/markdown.png?leak=1) [![x](${host}/inner.png)](${host}/outer)`,
  `[click](javascript:window.__xss=1) [data](data:text/html,<script>window.__xss=1</script>) [vb](vbscript:x)`,
  `![ref][r] [text][r]\n\n[r]: ${host}/reference.png "t"`,
  `<${host}/autolink> ${host}/bare`,
  `\`\`\`html\n<img src=x onerror=window.__xss=1>\n\`\`\``,
  `{{constructor.constructor('window.__xss=1')()}} \${window.__xss=1} __proto__`,
  `admin\u202Etxt.exe\u202C \u2066hidden\u2069 a\u200Bb \u0000 \u001b[31m`,
  `'";!--"<XSS>=&{()} \uD800 ${'A'.repeat(3000)}`,
];

before(async () => {
  canary = http.createServer((_, response) => {
    beacons += 1;
    response.end();
  });
  await new Promise((resolve) => canary.listen(0, '127.0.0.1', resolve));
  corpus = attacks(`http://127.0.0.1:${canary.address().port}`);
  fake = await fakeAgent({ agents: { hostile }, describe: () => describe(corpus) });
  pages = await pageServer(() => fake.url);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await pages?.close();
  await fake?.close();
  canary?.close();
});

const describe = (all) => ({
  description: all.join('\n'),
  capabilities: {
    identity: { provider: all[0] },
    tools: { items: all.map((attack) => ({ name: attack, description: attack, parameters: { [attack]: attack } })) },
    [all[0]]: { [all[1]]: all[2] },
    custom: Object.fromEntries(all.map((attack) => [attack, attack])),
  },
});

/** Every attack in one kind of place at a time. */
function hostile({ text, thread, resume, input }) {
  if (resume?.length > 0 || input.messages.at(-1)?.role === 'tool') return says('Thank you.');
  thread.title = corpus.join(' ');
  switch (text) {
    case 'text':
      return corpus.flatMap((attack, index) => says(attack, { id: `m${index}`, piece: 7 }));
    case 'tools':
      return corpus.flatMap((attack, index) => calls(attack, { [attack]: attack }, { id: `c${index}`, result: index % 2 ? attack : JSON.stringify({ [attack]: attack }) }));
    case 'haiku':
      return calls('generate_haiku', { japanese: corpus.slice(0, 3), english: corpus.slice(3, 6), gradient: `url(${corpus[0].slice(10, 40)}`, image_name: corpus[0] });
    case 'background':
      return calls('change_background', { background: `url(http://127.0.0.1:${canary.address().port}/background)` });
    case 'reasoning':
      return [
        { type: 'REASONING_START', messageId: 'r' },
        { type: 'REASONING_MESSAGE_START', messageId: 'm', role: 'reasoning' },
        { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm', delta: corpus.join('\n') },
        { type: 'REASONING_MESSAGE_END', messageId: 'm' },
        { type: 'REASONING_END', messageId: 'r' },
      ];
    case 'state':
      return [
        { type: 'STATE_SNAPSHOT', snapshot: Object.fromEntries(corpus.map((attack) => [attack, { [attack]: [attack] }])) },
        { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/__proto__', value: { polluted: true } }, { op: 'add', path: '/last', value: corpus[0] }] },
      ];
    case 'events':
      return [
        ...corpus.map((attack) => ({ type: 'CUSTOM', name: attack, value: { [attack]: attack } })),
        { type: 'RAW', event: corpus },
        ...corpus.map((attack, index) => ({ type: 'ACTIVITY_SNAPSHOT', messageId: `a${index}`, activityType: attack, content: { [attack]: attack } })),
        ...corpus.flatMap((attack) => [{ type: 'STEP_STARTED', stepName: attack }, { type: 'STEP_FINISHED', stepName: attack }]),
      ];
    case 'messages':
      return [snapshot(corpus.flatMap((attack, index) => [{ id: `u${index}`, role: 'user', content: attack }, { id: `s${index}`, role: 'system', content: attack }]))];
    case 'error':
      return [{ type: 'RUN_ERROR', message: corpus.join('\n'), code: corpus[0] }];
    case 'refused':
      return { status: 400, body: { error: { code: corpus[1], message: corpus.join('\n') } } };
    case 'questions':
      return [{ type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: corpus.flatMap((attack, index) => questions(attack, index)) } }];
    default:
      return says('Nothing special.');
  }
}

const questions = (attack, index) => [
  { id: `q${index}`, reason: 'tool_call', message: attack, toolCallId: attack, responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } } }, metadata: { harnest: { type: 'human_approval', name: attack, arguments: { [attack]: attack } } } },
  { id: `f${index}`, reason: 'input_required', message: attack, responseSchema: { type: 'object', properties: { [attack]: { type: 'string', title: attack, description: attack, default: attack }, [`${attack}2`]: { enum: [attack, { [attack]: attack }], title: attack } } } },
];

const ends = { error: 'Failed', refused: 'Failed', questions: 'Waiting for you' };

for (const kind of ['text', 'tools', 'haiku', 'background', 'reasoning', 'state', 'events', 'messages', 'error', 'refused', 'questions']) {
  test(`attacks in ${kind} are text, run nothing and fetch nothing`, async () => {
    const { page, wellBehaved, close } = await visit(browser, `${pages.url}#/hostile/${kind}`);
    await comesTo(page);
    await say(page, kind);
    await comesTo(page, ends[kind] ?? 'Ready');
    await page.evaluate(() => document.querySelectorAll('.log details').forEach((details) => (details.open = true)));
    for (const name of ['Events', 'Timeline', 'Request', 'Agent', 'State']) {
      await tab(page, name);
      await page.waitForTimeout(60);
      await page.evaluate(() => [...document.querySelectorAll('.pane .event')].slice(-20).forEach((row) => row.click()));
    }
    await isAccessible(page);
    for (const mode of ['Diff', 'History', 'Edit']) await page.getByRole('button', { name: mode, exact: true }).click();
    assert.equal(await page.evaluate(() => globalThis.__xss), undefined);
    assert.equal(await page.evaluate(() => ({}).polluted), undefined);
    assert.equal(await page.locator('img, iframe, script:not([src]), .log style, .log form[action], base').count(), 0);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll('a')].filter(({ href, rel }) => !/^(https?|mailto):/.test(href) || !rel.includes('noopener')).length), 0);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} too wide`);
    wellBehaved();
    assert.equal(beacons, 0);
    await close();
  });
}

test('characters that turn text around are named', async () => {
  const { page, close } = await visit(browser, `${pages.url}#/hostile/bidi`);
  await comesTo(page);
  await say(page, 'text');
  await hears(page, '⟨U+202E⟩');
  assert.doesNotMatch(await talk(page), /[\u202A-\u202E\u2066-\u2069]/);
  await close();
});
