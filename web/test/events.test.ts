import type { Message } from '@ag-ui/client';
import { describe, expect, test } from 'vitest';
import { items, unanswered, untilLastInput } from '../src/lib/items';
import { question } from '../src/lib/questions';
import { Spans } from '../src/lib/spans';
import { EventLog, filtered, gist } from '../src/lib/wire';

const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'tool', arguments: '{}' } });

const messages: Message[] = [
  { id: 'u', role: 'user', content: 'Hi' },
  { id: 'a', role: 'assistant', content: 'Hello', toolCalls: [call('c1'), call('c2')] },
  { id: 't', role: 'tool', toolCallId: 'c1', content: 'done' },
];

describe('items', () => {
  test('a result belongs to its call', () => {
    expect(items(messages).map(({ kind, id }) => `${kind}:${id}`)).toEqual(['user:u', 'assistant:a', 'tool:c1', 'tool:c2']);
    expect(items(messages)[2]).toMatchObject({ result: 'done' });
    expect(unanswered(messages).map(({ id }) => id)).toEqual(['c2']);
  });

  test('parts of a message are joined, and those that are no text are named', () => {
    const content = [{ type: 'text' as const, text: 'See' }, { type: 'image' as const, source: { type: 'url' as const, value: 'https://elsewhere.example/x.png' } }];
    expect(items([{ id: 'u', role: 'user', content }])[0]).toMatchObject({ text: 'See\n[image]' });
  });

  test('asking again begins after the last thing that was said', () => {
    expect(untilLastInput([...messages, { id: 'b', role: 'assistant', content: 'half' }]).map(({ id }) => id)).toEqual(['u', 'a', 't']);
  });
});

describe('the event log', () => {
  test('keeps the newest, and no more than it may', () => {
    const log = new EventLog();
    for (let index = 0; index < 6000; index += 1) log.add({ type: 'RAW', event: index }, index);
    expect(log.all.length).toBeLessThanOrEqual(2500);
    expect(log.all.at(-1)?.event['event']).toBe(5999);
  });

  test('is filtered by family and by words', () => {
    const log = new EventLog();
    log.add({ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'get_weather' }, 0);
    log.add({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'The weather is fine' }, 1);
    expect(filtered(log.all, new Set(['tool']), '')).toHaveLength(1);
    expect(filtered(log.all, new Set(), 'WEATHER')).toHaveLength(2);
    expect(filtered(log.all, new Set(), 'weather fine')).toHaveLength(1);
  });

  test('says in one line what an event is about', () => {
    expect(gist({ type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] })).toBe('add /a');
    expect(gist({ type: 'RUN_ERROR', code: 'x', message: 'y' })).toBe('x: y');
    expect(gist({ type: 'RUN_FINISHED' })).toBe('success');
    expect(gist({ type: 'STATE_SNAPSHOT', snapshot: null })).toBe('');
  });
});

describe('spans', () => {
  const fold = (spans: Spans, ...events: [string, Record<string, string>, number][]) =>
    events.forEach(([type, members, at]) => spans.fold({ type, ...members }, at));

  test('a call has a time for its arguments, and one for its execution', () => {
    const spans = new Spans();
    fold(spans, ['RUN_STARTED', { runId: 'r' }, 0], ['TOOL_CALL_START', { toolCallId: 'c', toolCallName: 'tool' }, 10], ['TOOL_CALL_END', { toolCallId: 'c' }, 30], ['TOOL_CALL_RESULT', { toolCallId: 'c' }, 70], ['RUN_FINISHED', {}, 100]);
    expect(spans.list.map(({ kind, start, end }) => [kind, start, end])).toEqual([['run', 0, 100], ['arguments', 10, 30], ['execution', 30, 70]]);
    expect(spans.durations().get('c')).toBe(60);
  });

  test('a call that is left to somebody else has no execution', () => {
    const spans = new Spans();
    fold(spans, ['TOOL_CALL_START', { toolCallId: 'c', toolCallName: 'tool' }, 0], ['TOOL_CALL_END', { toolCallId: 'c' }, 1], ['RUN_FINISHED', {}, 2]);
    expect(spans.list.map(({ kind }) => kind)).toEqual(['arguments']);
  });

  test('what is open when a run fails has failed', () => {
    const spans = new Spans();
    fold(spans, ['RUN_STARTED', { runId: 'r' }, 0], ['TEXT_MESSAGE_START', { messageId: 'm' }, 1], ['RUN_ERROR', {}, 5]);
    expect(spans.list.every(({ end, failed }) => end === 5 && failed)).toBe(true);
  });

  test('samples of a long run stay few', () => {
    const spans = new Spans();
    spans.reset(0);
    for (let at = 0; at < 100_000; at += 10) spans.count(100, at);
    expect(spans.samples.length).toBeLessThanOrEqual(601);
    expect(spans.samples.at(-1)?.bytes).toBe(1_000_000);
  });
});

describe('questions', () => {
  const approved = { type: 'object', properties: { approved: { type: 'boolean' } } };

  test('an approval names its call, also where only the messages have it', () => {
    const asked = question({ id: 'i', reason: 'tool_call', toolCallId: 'c', responseSchema: approved }, [call('c')]);
    expect(asked).toMatchObject({ kind: 'approval', tool: 'tool', arguments: '{}', mayEdit: false });
  });

  test('edits and reasons are offered where the schema has them', () => {
    const properties = { approved: {}, editedArgs: { type: 'object' }, reason: { type: 'string' } };
    expect(question({ id: 'i', reason: 'tool_call', responseSchema: { properties } }, [])).toMatchObject({ mayEdit: true, mayGiveReason: true });
  });

  test('a server that says accepted gets accepted', () => {
    expect(question({ id: 'i', reason: 'tool_call', responseSchema: { properties: { accepted: {} } } }, []).yes).toBe('accepted');
  });

  test('private input is told from a form by its reason or its metadata', () => {
    expect(question({ id: 'i', reason: 'private_input' }, []).kind).toBe('private');
    expect(question({ id: 'i', reason: 'input_required', metadata: { any: { type: 'client_tool', privateInput: true } } }, []).kind).toBe('private');
    expect(question({ id: 'i', reason: 'input_required', responseSchema: { properties: { a: {} } } }, []).kind).toBe('form');
  });

  test('a deadline that is none is none', () => {
    expect(question({ id: 'i', reason: 'x', expiresAt: 'soon' }, []).expiresAt).toBeUndefined();
  });
});
