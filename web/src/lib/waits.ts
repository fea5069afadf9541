/* What a thread waits for, collected while a run streams and taken over when it has ended. */
import type { AgentSubscriber, Message } from '@ag-ui/client';
import { unanswered } from './items';
import { announcedCall, externalWait, question, type ExternalWait, type PageCall, type Question } from './questions';
import { PAGE_TOOLS } from './tools';
import { text, type WireEvent } from './wire';
import { isObject } from './json';

type Finished = Parameters<NonNullable<AgentSubscriber['onRunFinishedEvent']>>[0]['event'];

export class Waits {
  questions: Question[] = [];
  calls: PageCall[] = [];
  external: ExternalWait[] = [];
  private announced = new Map<string, number | undefined>();
  private waiting: ExternalWait[] = [];

  /** A stream begins. A run settles what was asked; one that only opens the thread (`isLook`) tells it
   * again, and until then the cards stay, with what was typed into them. */
  begin(isLook: boolean): void {
    if (!isLook) {
      this.questions = [];
      this.calls = [];
      this.external = [];
    }
    this.announced.clear();
    this.waiting = [];
  }

  fold(event: WireEvent): void {
    if (event.type !== 'CUSTOM') return;
    const name = text(event, 'name');
    if (name.endsWith('.client_tool')) {
      const call = announcedCall(event['value']);
      if (call !== undefined) this.announced.set(call.toolCallId, call.expiresAt);
    }
    const wait = name.endsWith('.external_wait') ? externalWait(event['value']) : undefined;
    if (wait !== undefined) this.waiting.push(wait);
  }

  /** Takes a run's ending. */
  finish(event: Finished, messages: readonly Message[]): void {
    const outcome: unknown = event.outcome;
    const open = unanswered(messages);
    this.questions = [];
    this.calls = [];
    this.external = this.waiting;
    if (isObject(outcome) && outcome['type'] === 'interrupt') {
      const { interrupts } = event.outcome as unknown as { interrupts: Parameters<typeof question>[0][] };
      this.questions = interrupts.map((interrupt) => question(interrupt, open));
      return;
    }
    const listed = isObject(outcome) && Array.isArray(outcome['pendingToolCallIds']) ? outcome['pendingToolCallIds'] : [];
    const ours = (id: string, name: string) =>
      this.announced.has(id) || listed.includes(id) || PAGE_TOOLS.some((tool) => tool.name === name);
    this.calls = open
      .filter(({ id, function: { name } }) => ours(id, name))
      .map(({ id, function: { name, arguments: args } }) => ({ toolCallId: id, name, arguments: args, expiresAt: this.announced.get(id) }));
  }
}
