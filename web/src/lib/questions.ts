/* What a thread waits for: interrupts of RUN_FINISHED, calls of the page's own tools, and other systems. */
import { isObject, type Json, type JsonObject } from './json';
import { moment } from './format';
import { text } from './wire';

export type QuestionKind = 'approval' | 'confirmation' | 'form' | 'private' | 'client_tool' | 'outcome_unknown';

export interface Question {
  id: string;
  kind: QuestionKind;
  message: string;
  /** The tool that is to run, and its arguments, where the question is about a call. */
  tool: string | undefined;
  arguments: Json | undefined;
  schema: JsonObject | undefined;
  /** The member of the payload that says yes: `approved`, or `accepted` with some servers. */
  yes: string;
  mayEdit: boolean;
  mayGiveReason: boolean;
  expiresAt: number | undefined;
  toolCallId: string | undefined;
}

interface Interrupt {
  id: string;
  reason: string;
  message?: string;
  toolCallId?: string;
  responseSchema?: unknown;
  expiresAt?: string;
  metadata?: unknown;
}

interface Called {
  id: string;
  function: { name: string; arguments: string };
}

/** Reads an interrupt of any server. Details come from whichever namespace of its metadata has them. */
export function question(interrupt: Interrupt, calls: readonly Called[]): Question {
  const spaces = isObject(interrupt.metadata) ? Object.values(interrupt.metadata).filter(isObject) : [];
  const details: JsonObject = spaces.find((space) => 'type' in space || 'name' in space) ?? {};
  const schema = isObject(interrupt.responseSchema) ? interrupt.responseSchema : undefined;
  const properties: JsonObject = schema !== undefined && isObject(schema['properties']) ? schema['properties'] : {};
  const call = calls.find(({ id }) => id === interrupt.toolCallId);
  const tool = text(details, 'name') || call?.function.name;
  return {
    id: interrupt.id,
    kind: kindOf(interrupt.reason, details, properties, schema),
    message: interrupt.message ?? text(details, 'message'),
    tool: tool === '' ? undefined : tool,
    arguments: details['arguments'] ?? (call === undefined ? undefined : call.function.arguments),
    schema,
    yes: 'accepted' in properties && !('approved' in properties) ? 'accepted' : 'approved',
    mayEdit: isObject(properties['editedArgs']),
    mayGiveReason: isObject(properties['reason']),
    expiresAt: moment(interrupt.expiresAt ?? (text(details, 'expiresAt') || undefined)),
    toolCallId: interrupt.toolCallId,
  };
}

function kindOf(reason: string, details: JsonObject, properties: JsonObject, schema: JsonObject | undefined): QuestionKind {
  if (reason === 'private_input' || details['privateInput'] === true) return 'private';
  if (reason.endsWith(':outcome_unknown')) return 'outcome_unknown';
  if (details['type'] === 'client_tool') return 'client_tool';
  if ('approved' in properties || 'accepted' in properties) return reason === 'confirmation' ? 'confirmation' : 'approval';
  if (schema === undefined && (reason === 'tool_call' || reason === 'approval')) return 'approval';
  return reason === 'confirmation' && Object.keys(properties).length === 0 ? 'confirmation' : 'form';
}

/** A call that the page, or the person in front of it, has to answer. */
export interface PageCall {
  toolCallId: string;
  name: string;
  arguments: string;
  expiresAt: number | undefined;
}

/** CUSTOM `<namespace>.client_tool`. */
export function announcedCall(value: unknown): { toolCallId: string; expiresAt: number | undefined } | undefined {
  if (!isObject(value)) return undefined;
  const id = text(value, 'toolCallId');
  return id === '' ? undefined : { toolCallId: id, expiresAt: moment(text(value, 'expiresAt') || undefined) };
}

export interface ExternalWait {
  id: string;
  capability: string;
}

/** CUSTOM `<namespace>.external_wait`. */
export function externalWait(value: unknown): ExternalWait | undefined {
  const action = isObject(value) && isObject(value['pendingAction']) ? value['pendingAction'] : undefined;
  return action === undefined ? undefined : { id: text(action, 'id'), capability: text(action, 'capability') };
}
