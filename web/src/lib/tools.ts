/* Tools that the page offers to agents and runs by itself: one changes the page, two show something. */
import type { Tool } from '@ag-ui/client';
import type { Item } from './items';
import { isObject, readJson, type Json, type JsonObject } from './json';
import { backgroundOf } from './background';

export interface PageTool extends Tool {
  /** Runs with the call's arguments. Absent where the person answers through a card. */
  run?: (args: JsonObject) => Json;
}

const step = {
  type: 'object',
  properties: {
    description: { type: 'string', description: 'What is to be done, in the imperative' },
    status: { type: 'string', enum: ['enabled', 'disabled', 'executing'] },
  },
  required: ['description', 'status'],
};
const lines = (description: string) => ({ type: 'array', items: { type: 'string' }, description });

export const PAGE_TOOLS: readonly PageTool[] = [
  {
    name: 'change_background',
    description: 'Change the background of the conversation. Takes a CSS color or a CSS gradient.',
    parameters: {
      type: 'object',
      properties: { background: { type: 'string', description: 'A CSS color or gradient' } },
      required: ['background'],
    },
    run: (args) =>
      backgroundOf(args['background']) === undefined
        ? { status: 'error', message: 'The background must be a CSS color or a CSS gradient.' }
        : { status: 'success', message: 'The background was changed.' },
  },
  {
    name: 'generate_task_steps',
    description: 'Propose the steps of a task. The user chooses among them and accepts or rejects the plan.',
    parameters: { type: 'object', properties: { steps: { type: 'array', items: step } }, required: ['steps'] },
  },
  {
    name: 'generate_haiku',
    description: 'Show a haiku as a card: three lines in Japanese and the same three lines in English.',
    parameters: {
      type: 'object',
      properties: {
        japanese: lines('Three lines in Japanese'),
        english: lines('The same three lines in English'),
        image_name: { type: 'string', description: 'The name of a fitting picture' },
        gradient: { type: 'string', description: 'A CSS gradient for the card' },
      },
      required: ['japanese', 'english'],
    },
    run: () => 'The haiku is shown.',
  },
];

/** The tools to offer to an agent: a tool of the page never takes the place of one of the server's. */
export function offered(serverTools: ReadonlySet<string>): Tool[] {
  return PAGE_TOOLS.filter(({ name }) => !serverTools.has(name)).map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/** Runs a call if the page can do so alone. */
export function runAlone(name: string, args: string): Json | undefined {
  const tool = PAGE_TOOLS.find((known) => known.name === name);
  if (tool?.run === undefined) return undefined;
  const read = readJson(args === '' ? '{}' : args);
  return isObject(read) ? tool.run(read) : { status: 'error', message: 'The arguments are not a JSON object.' };
}

/** The background that the conversation has come to: the last one that was asked for and answered. It
 * follows from the messages, so that a reload shows the same. */
export function backgroundIn(items: readonly Item[]): string | undefined {
  const isChange = (item: Item) => item.kind === 'tool' && item.name === 'change_background' && item.result !== undefined;
  const backgrounds = items.filter(isChange).map((item) => {
    const args = item.kind === 'tool' ? readJson(item.arguments) : undefined;
    return isObject(args) ? backgroundOf(args['background']) : undefined;
  });
  return backgrounds.findLast((background) => background !== undefined);
}
