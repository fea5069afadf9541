import { describe, expect, test } from 'vitest';
import { refusal } from '../src/lib/api';
import { backgroundOf } from '../src/lib/background';
import { curl, quoted } from '../src/lib/curl';
import { ago, bytes, duration, remaining } from '../src/lib/format';
import { placeHash, readPlace } from '../src/lib/route';
import { fields, payload, valueOf } from '../src/lib/schema';
import { backgroundIn, offered, runAlone } from '../src/lib/tools';
import { clip, exact, label, prose } from '../src/lib/visible';

describe('curl', () => {
  test('a shell takes the body as it is', () => {
    expect(quoted(`it's $(rm) \`x\` "y" \\`)).toBe(`'it'\\''s $(rm) \`x\` "y" \\'`);
    expect(curl({ method: 'POST', url: 'http://h/agents/a', body: { text: "it's" }, at: 0 })).toBe(
      `curl -N 'http://h/agents/a' \\\n  -H 'Accept: text/event-stream' \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{"text":"it'\\''s"}'`,
    );
  });

  test('a request that only reads has no body', () => {
    expect(curl({ method: 'GET', url: 'http://h/runs/r/events', at: 0 })).not.toContain('--data');
  });
});

describe('visible text', () => {
  test('names show every character that cannot be seen', () => {
    expect(exact('a\u200Bb\u202Ec\u0000')).toBe('a⟨U+200B⟩b⟨U+202E⟩c⟨U+0000⟩');
    expect(exact('line\nline\ttab')).toBe('line\nline\ttab');
    expect(exact('👩🏽\u200D🍳 🌶\uFE0F')).toBe('👩🏽\u200D🍳 🌶\uFE0F');
    expect(exact('a\u200Db')).toContain('⟨U+200D⟩');
  });

  test('prose keeps what right-to-left scripts need', () => {
    expect(prose('\u200Fשלום')).toBe('\u200Fשלום');
    expect(prose('a\u2066b')).toBe('a⟨U+2066⟩b');
  });

  test('a clipped text has no half characters', () => {
    expect(clip('ab😀', 3)).toBe('ab…');
    expect(label('  a\n\n b ', 10)).toBe('a b');
  });
});

describe('a background', () => {
  test('may be a color or a gradient', () => {
    for (const good of ['teal', '#fff', 'rgb(1 2 3 / 50%)', 'linear-gradient(135deg, #5b247a, #1bcedf)', 'conic-gradient(from 45deg, red, blue)']) {
      expect(backgroundOf(good)).toBe(good);
    }
  });

  test('may not load, nor leave its property', () => {
    for (const bad of ['url(http://x/y)', 'image-set("x" 1x)', 'red; color: blue', 'var(--x)', 'linear-gradient(red, url(x))', 'inherit', 'u\\72l(x)', 7, null, `red${' '.repeat(600)}x`]) {
      expect(backgroundOf(bad)).toBeUndefined();
    }
  });
});

describe('tools of the page', () => {
  test('give way to a tool of the server with the same name', () => {
    expect(offered(new Set(['change_background'])).map(({ name }) => name)).toEqual(['generate_task_steps', 'generate_haiku']);
    expect(offered(new Set()).every((tool) => !('run' in tool))).toBe(true);
  });

  test('answer arguments that they cannot use', () => {
    expect(runAlone('change_background', '{"background":"url(x)"}')).toMatchObject({ status: 'error' });
    expect(runAlone('change_background', 'not json')).toMatchObject({ status: 'error' });
    expect(runAlone('generate_task_steps', '{}')).toBeUndefined();
    expect(runAlone('constructor', '{}')).toBeUndefined();
    expect(runAlone('change_background', '{"background":"teal"}')).toMatchObject({ status: 'success' });
  });
});

test('the background is the last one that was answered', () => {
  const change = (background: string, result: string | undefined) => ({ kind: 'tool' as const, id: background, name: 'change_background', arguments: JSON.stringify({ background }), result, error: undefined });
  expect(backgroundIn([change('teal', 'done'), change('url(x)', 'done'), change('red', undefined)])).toBe('teal');
  expect(backgroundIn([])).toBeUndefined();
});

describe('a form', () => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, s: { type: 'string', maxLength: 1000 }, e: { enum: ['a', 1] }, o: { type: 'object' }, b: { type: 'boolean' }, c: { oneOf: [{ const: 'x' }, { const: 'y' }] } } };

  test('has a field for each member of the schema', () => {
    expect(fields(schema).map(({ kind }) => kind)).toEqual(['number', 'long', 'choice', 'json', 'boolean', 'choice']);
    expect(fields(schema).map(({ isRequired }) => isRequired)).toEqual([true, false, false, false, false, false]);
  });

  test('makes values of what was typed, and leaves out what was not', () => {
    const [n, s, e, o, b] = fields(schema) as [never, never, never, never, never];
    expect([valueOf(n, '3', false), valueOf(s, '', false), valueOf(e, '1', false), valueOf(o, '{"a":1}', false), valueOf(b, '', true)]).toEqual([3, undefined, 1, { a: 1 }, true]);
    expect(() => valueOf(o, '{', false)).toThrow('must be JSON');
    expect(payload([[n, 3], [s, undefined]])).toEqual({ n: 3 });
  });

  test('of a schema that is no object asks for the value itself', () => {
    const [field] = fields({ type: 'string' });
    expect(payload([[field as never, 'yes']])).toBe('yes');
    expect(fields(undefined)).toHaveLength(1);
  });
});

test('a place survives odd names', () => {
  const hash = placeHash('a/b', 'thread #1 %');
  expect(readPlace(hash)).toEqual({ agent: 'a/b', thread: 'thread #1 %' });
  expect(readPlace('#/a/%E0%A4%A')).toEqual({ agent: 'a', thread: undefined });
  expect(readPlace('')).toEqual({ agent: undefined, thread: undefined });
});

test('numbers are written for people', () => {
  expect([duration(0.44), duration(12), duration(1250), duration(185_000)]).toEqual(['0.4 ms', '12 ms', '1.25 s', '3 min 5 s']);
  expect([bytes(812), bytes(1400), bytes(2_100_000)]).toEqual(['812 B', '1.4 kB', '2.1 MB']);
  expect([remaining(299_000), remaining(7_380_000), remaining(-5)]).toEqual(['4:59', '2 h 3 min', '0:00']);
  expect([ago(0, 30_000), ago(0, 300_000), ago(Number.NaN, 0)]).toEqual(['now', '5 min', '']);
});

test('a refusal keeps the server’s words', () => {
  expect(refusal(409, { error: { code: 'thread_busy', message: 'busy', runId: 'r' } })).toMatchObject({ status: 409, code: 'thread_busy', message: 'busy', details: { runId: 'r' } });
  expect(refusal(502, '<html>')).toMatchObject({ code: 'http_502', isAway: true });
});
