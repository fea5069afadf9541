/* When things began and ended, folded from events: the waterfall, and the duration of each tool call. */
import { isObject } from './json';
import { text, type WireEvent } from './wire';

export type SpanKind = 'run' | 'step' | 'text' | 'reasoning' | 'arguments' | 'execution' | 'subagent';

export interface Span {
  key: string;
  kind: SpanKind;
  label: string;
  start: number;
  end: number | undefined;
  failed: boolean;
}

export interface Sample {
  at: number;
  bytes: number;
  /** Characters of text, reasoning and arguments so far, from which tokens are estimated. */
  characters: number;
}

export interface Usage {
  input: number;
  output: number;
}

const KEPT = 400;
const SAMPLES = 600;

export class Spans {
  list: Span[] = [];
  samples: Sample[] = [];
  usage: Usage | undefined;
  private bytes = 0;
  private characters = 0;

  /** Begins afresh with a run that was asked for at this time. */
  reset(at: number): void {
    this.list = [];
    this.samples = [{ at, bytes: 0, characters: 0 }];
    this.usage = undefined;
    this.bytes = 0;
    this.characters = 0;
  }

  count(bytes: number, at: number): void {
    this.bytes += bytes;
    const last = this.samples.at(-1);
    const sample = { at, bytes: this.bytes, characters: this.characters };
    if (last !== undefined && last.bytes > 0 && at - last.at < 8) this.samples[this.samples.length - 1] = sample;
    else this.samples.push(sample);
    // Twice too many: every other one tells the same.
    if (this.samples.length > SAMPLES) this.samples = this.samples.filter((_, index) => index % 2 === 1);
  }

  fold(event: WireEvent, at: number): void {
    const id = text(event, 'messageId') || text(event, 'toolCallId') || text(event, 'subagentRunId');
    if (event.type.endsWith('_CONTENT') || event.type === 'TOOL_CALL_ARGS') this.characters += text(event, 'delta').length;
    switch (event.type) {
      case 'RUN_STARTED':
        return this.open('run', text(event, 'runId'), 'run', at);
      case 'RUN_FINISHED':
        this.addUsage(event);
        return this.closeAll(at, false);
      case 'RUN_ERROR':
        return this.closeAll(at, true);
      case 'STEP_STARTED':
        return this.open('step', text(event, 'stepName'), text(event, 'stepName'), at);
      case 'STEP_FINISHED':
        return this.close('step', text(event, 'stepName'), at);
      case 'TEXT_MESSAGE_START':
        return this.open('text', id, 'text', at);
      case 'TEXT_MESSAGE_END':
        return this.close('text', id, at);
      case 'REASONING_MESSAGE_START':
        return this.open('reasoning', id, 'reasoning', at);
      case 'REASONING_MESSAGE_END':
        return this.close('reasoning', id, at);
      case 'TOOL_CALL_START':
        return this.open('arguments', id, text(event, 'toolCallName'), at);
      case 'TOOL_CALL_END':
        return this.executes(id, at);
      case 'TOOL_CALL_RESULT':
        return this.close('execution', text(event, 'toolCallId'), at);
      case 'SUBAGENT_STARTED':
        return this.open('subagent', id, text(event, 'name'), at);
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.close('subagent', id, at, event.type === 'SUBAGENT_ERROR');
    }
  }

  /** How long each finished call took, from its start to its result. */
  durations(): Map<string, number> {
    const durations = new Map<string, number>();
    for (const span of this.list) {
      if (span.kind !== 'execution' || span.end === undefined) continue;
      const id = span.key.slice('execution:'.length);
      const began = this.list.find(({ key }) => key === `arguments:${id}`)?.start ?? span.start;
      durations.set(id, span.end - began);
    }
    return durations;
  }

  private open(kind: SpanKind, id: string, label: string, start: number): void {
    if (this.list.length < KEPT) this.list.push({ key: `${kind}:${id}`, kind, label, start, end: undefined, failed: false });
  }

  private close(kind: SpanKind, id: string, at: number, failed = false): void {
    const span = this.list.findLast(({ key, end }) => end === undefined && key === `${kind}:${id}`);
    if (span === undefined) return;
    span.end = at;
    span.failed = failed;
  }

  private executes(id: string, at: number): void {
    const label = this.list.findLast(({ key }) => key === `arguments:${id}`)?.label ?? 'tool';
    this.close('arguments', id, at);
    this.open('execution', id, label, at);
  }

  /** A call that the run leaves to somebody else has no execution in it. */
  private closeAll(at: number, failed: boolean): void {
    this.list = this.list.filter((span) => !(span.kind === 'execution' && span.end === undefined));
    for (const span of this.list) {
      if (span.end !== undefined) continue;
      span.end = at;
      span.failed = failed;
    }
  }

  private addUsage(event: WireEvent): void {
    const usage = Array.isArray(event['usage']) ? event['usage'].filter(isObject) : [];
    if (usage.length === 0) return;
    const sum = (member: string) =>
      usage.reduce((total, entry) => total + (typeof entry[member] === 'number' ? entry[member] : 0), 0);
    this.usage = { input: sum('inputTokens'), output: sum('outputTokens') };
  }
}
