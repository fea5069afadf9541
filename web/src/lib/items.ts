/* The conversation as the page shows it, folded from the client's messages. Items hold plain values:
 * the client changes its messages in place, and values are what React can compare. */
import type { Message } from '@ag-ui/client';
import { isObject } from './json';

export type Item =
  | { kind: 'user' | 'assistant' | 'reasoning' | 'system'; id: string; text: string }
  | { kind: 'tool'; id: string; name: string; arguments: string; result: string | undefined; error: string | undefined }
  | { kind: 'activity'; id: string; type: string; content: string };

interface Call {
  id: string;
  function: { name: string; arguments: string };
}

/** Text of a message's content, which may come in parts; other parts are named. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isObject)
    .map((part) => (part['type'] === 'text' ? String(part['text'] ?? '') : `[${String(part['type'])}]`))
    .join('\n');
}

export function items(messages: readonly Message[]): Item[] {
  const results = new Map<string, { content: string; error: string | undefined }>();
  for (const message of messages) {
    if (message.role === 'tool') results.set(message.toolCallId, { content: contentText(message.content), error: message.error });
  }
  return messages.flatMap((message): Item[] => {
    switch (message.role) {
      case 'tool':
        return [];
      case 'activity':
        return [{ kind: 'activity', id: message.id, type: message.activityType, content: JSON.stringify(message.content) }];
      case 'assistant': {
        const said: Item[] = message.content ? [{ kind: 'assistant', id: message.id, text: contentText(message.content) }] : [];
        return [...said, ...(message.toolCalls ?? []).map((call: Call) => tool(call, results))];
      }
      case 'developer':
        return [{ kind: 'system', id: message.id, text: contentText(message.content) }];
      default:
        return [{ kind: message.role, id: message.id, text: contentText(message.content) }];
    }
  });
}

function tool(call: Call, results: Map<string, { content: string; error: string | undefined }>): Item {
  const result = results.get(call.id);
  const { name, arguments: args } = call.function;
  return { kind: 'tool', id: call.id, name, arguments: args, result: result?.content, error: result?.error };
}

/** Calls without a result, in order. */
export function unanswered(messages: readonly Message[]): Call[] {
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
  return messages.flatMap((message) =>
    message.role === 'assistant' ? ((message.toolCalls ?? []) as Call[]).filter((call) => !answered.has(call.id)) : [],
  );
}

/** The messages up to the last thing that was not said by the agent: from there it can be asked again. */
export function untilLastInput(messages: readonly Message[]): Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  return messages.slice(0, last + 1);
}
