import { describe, expect, test } from 'vitest';
import { diff, holdsPredicted, isPredicted } from '../src/lib/diff';
import { firstKey, isEqual, pointer, type Json } from '../src/lib/json';
import { SharedState } from '../src/lib/shared';

describe('diff', () => {
  test('equal states have no difference', () => {
    expect(diff({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
  });

  test('members are added, removed and changed where they are', () => {
    expect(diff({ a: 1, b: { c: [1, 2] }, gone: true }, { a: 2, b: { c: [1, 3, 4] }, fresh: null })).toEqual([
      { op: 'replace', path: '/a', before: 1, after: 2 },
      { op: 'replace', path: '/b/c/1', before: 2, after: 3 },
      { op: 'add', path: '/b/c/2', before: undefined, after: 4 },
      { op: 'remove', path: '/gone', before: true, after: undefined },
      { op: 'add', path: '/fresh', before: undefined, after: null },
    ]);
  });

  test('another kind of value is a change of the whole', () => {
    expect(diff({ a: [] }, { a: {} })).toEqual([{ op: 'replace', path: '/a', before: [], after: {} }]);
    expect(diff(null, { a: 1 })).toEqual([{ op: 'replace', path: '', before: null, after: { a: 1 } }]);
  });

  test('keys with slashes and tildes are escaped', () => {
    expect(diff({}, { 'a/b~c': 1 })[0]?.path).toBe('/a~1b~0c');
    expect(firstKey(pointer(pointer('', 'a/b~c'), 0))).toBe('a/b~c');
  });

  test('it ends, however much is different', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]));
    expect(diff({}, many)).toHaveLength(500);
  });
});

test('equality looks at own members only', () => {
  expect(isEqual({ a: undefined }, {})).toBe(false);
  expect(isEqual({ toString: 1 }, { a: 1 })).toBe(false);
  expect(isEqual([1], { 0: 1 })).toBe(false);
});

test('a prediction covers what is below it and shows above it', () => {
  const predicted = new Set(['/recipe/title']);
  expect(isPredicted('/recipe/title', predicted)).toBe(true);
  expect(isPredicted('/recipe/title/0', predicted)).toBe(true);
  expect(isPredicted('/recipe/titles', predicted)).toBe(false);
  expect(holdsPredicted('/recipe', predicted)).toBe(true);
});

describe('the shared state', () => {
  const announce = { type: 'CUSTOM', name: 'PredictState', value: [{ state_key: 'recipe', tool: 'update_recipe', tool_argument: 'recipe' }] };
  const begin = { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'update_recipe' };
  const delta = (path: string) => ({ type: 'STATE_DELTA', delta: [{ op: 'add', path, value: 1 }] as Json });
  const predicting = () => {
    const shared = new SharedState();
    shared.settle({ recipe: {} }, 'opened', 0);
    for (const event of [{ type: 'RUN_STARTED' }, announce, begin, delta('/recipe/title')]) shared.fold(event);
    shared.settle({ recipe: { title: 1 } }, 'run', 1);
    return shared;
  };

  test('what a call writes ahead is predicted and not committed', () => {
    const shared = predicting();
    expect([...shared.predicted]).toEqual(['/recipe/title']);
    expect(shared.committed).toEqual({ recipe: {} });
    expect(shared.base).toEqual({ recipe: {} });
  });

  test('the call’s result commits it', () => {
    const shared = predicting();
    shared.fold({ type: 'TOOL_CALL_RESULT', toolCallId: 'c' });
    shared.settle({ recipe: { title: 1 } }, 'tool result', 2);
    expect(shared.predicted.size).toBe(0);
    expect(shared.committed).toEqual({ recipe: { title: 1 } });
    expect(shared.versions).toHaveLength(2);
  });

  test('a snapshot that takes it back leaves no trace', () => {
    const shared = predicting();
    shared.fold({ type: 'STATE_SNAPSHOT', snapshot: { recipe: {} } });
    shared.settle({ recipe: {} }, 'run', 2);
    expect(shared.predicted.size).toBe(0);
    expect(shared.versions).toHaveLength(1);
  });

  test('a delta that no call announced is committed', () => {
    const shared = new SharedState();
    for (const event of [{ type: 'RUN_STARTED' }, announce, delta('/recipe/title')]) shared.fold(event);
    expect(shared.predicted.size).toBe(0);
    const other = new SharedState();
    for (const event of [{ type: 'RUN_STARTED' }, announce, begin, delta('/steps/0')]) other.fold(event);
    expect(other.predicted.size).toBe(0);
  });

  test('a predicting call that waits for a person stays predicted', () => {
    const shared = predicting();
    shared.fold({ type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: [{ toolCallId: 'c' }] } });
    expect([...shared.predicted]).toEqual(['/recipe']);
  });
});
