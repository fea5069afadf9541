/* One thread with one agent: opens it, runs turns, answers questions, and comes back to runs that are
 * under way after a cut, a reload or a restart of the server. The views read `snapshot()`. */
import { randomUUID, type AgentStateMutation, type AgentSubscriber, type ResumeEntry } from '@ag-ui/client';
import { Answers, type Answer } from './answers';
import { ThreadAgent, type Mode, type Sent } from './agent';
import { address, asApiError, cancelRun, describeAgent, eventsPath, openInteractions, patchState, runPath, type ApiError } from './api';
import { items, untilLastInput } from './items';
import { isObject, type Json, type JsonObject } from './json';
import { Liveness } from './liveness';
import { CANCELLED, CUT, ENDLESS, failed, keepNotice, keptNotice, refused, type Notice } from './notice';
import { Painter } from './painter';
import { Records } from './records';
import { bearer } from './token';
import { offered, runAlone } from './tools';
import type { View } from './view';
import { text, type WireEvent } from './wire';

/** How a stream ended. `cut` has no terminal event. */
type Ending = { as: 'finished' | 'failed' | 'cancelled' | 'cut' } | { as: 'refused'; error: ApiError };

const SENT_KEPT = 30;
/** Times that a run is joined again although nothing new came of it. */
const FRUITLESS = 4;
/** Runs in a row that nobody but the page's own tools went on with. */
const MOST_ALONE = 20;

export class Thread {
  readonly threadId: string;
  readonly agentName: string;
  private readonly agent: ThreadAgent;
  private readonly answers = new Answers();
  private readonly records: Records;
  private readonly painter: Painter<View>;
  private readonly liveness: Liveness;
  private readonly serverTools: Promise<Set<string>>;
  private phase: View['phase'] = 'opening';
  private isStopping = false;
  private isDisposed = false;
  private runId = '';
  private seen = 0;
  private fruitless = 0;
  private alone = 0;
  private notice: Notice | undefined;
  private returned: string | undefined;
  private needsToken = false;
  private background: string | undefined;
  private sent: Sent[] = [];

  constructor(agentName: string, threadId: string) {
    this.threadId = threadId;
    this.agentName = agentName;
    this.records = new Records(threadId);
    this.agent = new ThreadAgent(address(runPath(agentName)), threadId, bearer(), {
      onSent: (sent) => (this.sent = [...this.sent.slice(1 - SENT_KEPT), sent]),
      onBytes: (count) => this.phase === 'running' && this.records.spans.count(count, performance.now()),
    });
    this.serverTools = describeAgent(agentName).then(toolNames, () => new Set<string>());
    this.painter = new Painter(() => this.view());
    this.liveness = new Liveness({
      probe: () => this.isStale(),
      isBusy: () => this.phase !== 'idle',
      isUrgent: () => this.records.waits.external.length > 0,
      onBack: () => void this.open(),
      onChange: () => this.painter.paint(),
    });
  }

  subscribe = (listener: () => void) => this.painter.subscribe(listener);
  snapshot = () => this.painter.current;

  dispose(): void {
    this.isDisposed = true;
    this.liveness.stop();
    this.painter.stop();
    this.agent.abortRun();
  }

  /** Reads the thread and joins its run if it has one. */
  async open(): Promise<void> {
    if (this.phase === 'running') return;
    this.phase = 'opening';
    this.liveness.start();
    const ending = await this.play('open', randomUUID());
    if (ending.as === 'refused' && ending.error.code === 'thread_busy' && typeof ending.error.details['runId'] === 'string') {
      return this.join(ending.error.details['runId']);
    }
    this.notice ??= keptNotice(this.threadId);
    await this.settle(ending);
  }

  async send(said: string): Promise<void> {
    if (this.phase !== 'idle' || this.records.waits.questions.length > 0 || said === '') return;
    this.alone = 0;
    this.agent.addMessage({ id: randomUUID(), role: 'user', content: said });
    await this.turn(said);
  }

  /** Asks again from the last thing that was said. After a refused answer the thread is read again. */
  async retry(): Promise<void> {
    if (this.phase !== 'idle') return;
    this.alone = 0;
    if (this.records.waits.questions.length > 0 || this.agent.messages.length === 0) return this.open();
    this.agent.setMessages(untilLastInput(this.agent.messages));
    await this.turn();
  }

  /** Takes an answer; when every question has one, all go out together. */
  async answer(id: string, answer: Answer): Promise<void> {
    if (this.phase !== 'idle') return;
    this.answers.give(id, answer);
    this.painter.paint();
    if (!this.answers.covers(this.records.waits.questions)) return;
    const isPrivate = this.records.waits.questions.some(({ kind }) => kind === 'private');
    const resume = this.answers.take(this.records.waits.questions);
    await this.run(isPrivate ? 'private' : 'turn', resume);
  }

  takeBack(id: string): void {
    this.answers.takeBack(id);
    this.painter.paint();
  }

  /** Answers a call that only the page or its reader can answer. */
  async answerCall(toolCallId: string, result: Json): Promise<void> {
    if (this.phase !== 'idle') return;
    this.giveResult(toolCallId, result);
    if (this.records.waits.calls.length === 0) await this.turn();
    else this.painter.paint();
  }

  /** Asks the server to stop the run; a server that does not react is left. */
  async stop(): Promise<void> {
    if (this.phase !== 'running' || this.isStopping) return;
    this.isStopping = true;
    this.painter.paint();
    const { runId } = this;
    await cancelRun(runId, this.threadId).catch(() => this.agent.abortRun());
    setTimeout(() => this.phase === 'running' && this.runId === runId && this.agent.abortRun(), 5000);
  }

  /** Replaces keys of the shared state. A thread that does not exist yet gets them with its first run. */
  async editState(delta: JsonObject): Promise<void> {
    let state: Json = { ...(isObject(this.agent.state) ? this.agent.state : {}), ...delta };
    try {
      state = await patchState(this.threadId, delta);
    } catch (error) {
      if (asApiError(error).status !== 404) throw error;
    }
    this.agent.setState(state);
    this.records.settle(state, 'edited here');
    this.painter.paint();
  }

  clearLog(): void {
    this.records.log.clear();
    this.painter.paint();
  }

  takeReturned(): void {
    this.returned = undefined;
    this.painter.paint();
  }

  private turn(said?: string): Promise<void> {
    return this.run('turn', undefined, said);
  }

  private async run(mode: Mode, resume?: ResumeEntry[], said?: string): Promise<void> {
    this.phase = 'running';
    this.setNotice(undefined);
    const ending = await this.play(mode, randomUUID(), resume);
    if (ending.as === 'refused' && ending.error.status === 409) {
      // The thread is not where the page thought it was: look, and give back what was typed.
      this.returned = said;
      this.phase = 'idle';
      await this.open();
      if (this.notice === undefined && this.phase === 'idle') this.setNotice(refused(ending.error));
      return;
    }
    await this.settle(ending);
  }

  private async join(runId: string): Promise<void> {
    this.phase = 'running';
    this.runId = runId;
    await this.settle(await this.play('join', runId));
  }

  /** Plays one stream to its end, whatever that is. */
  private async play(mode: Mode, runId: string, resume?: ResumeEntry[]): Promise<Ending> {
    this.runId = runId;
    this.isStopping = false;
    this.seen = 0;
    let ending: Ending = { as: 'cut' };
    const take = (taken: Ending) => (ending = taken);
    if (mode === 'turn' || mode === 'private') this.records.spans.reset(performance.now());
    this.painter.paint();
    this.agent.next(mode, mode === 'join' ? address(eventsPath(runId, this.threadId)) : '');
    try {
      // Opening does not wait for the agent's description: a run under way has to be joined soon.
      const tools = mode === 'turn' || mode === 'private' ? offered(await this.serverTools) : [];
      await this.agent.runAgent({ runId, tools, ...(resume && { resume }) }, this.subscriber(mode, take));
    } catch (error) {
      take({ as: 'refused', error: asApiError(error) });
    }
    return ending;
  }

  private subscriber(mode: Mode, take: (ending: Ending) => void): AgentSubscriber {
    return {
      onEvent: ({ event, state }) => this.fold(event as unknown as WireEvent, state, mode),
      onStateChanged: ({ state }) => {
        this.records.settle(state as Json, mode === 'open' ? 'opened' : 'run');
        this.painter.paint();
      },
      onMessagesChanged: () => this.painter.paint(),
      onRunFinishedEvent: ({ event, messages }) => {
        const outcome: unknown = event.outcome;
        take({ as: isObject(outcome) && outcome['type'] === 'cancelled' ? 'cancelled' : 'finished' });
        this.records.waits.finish(event, messages);
      },
      onRunErrorEvent: ({ event }) => {
        if (event.code === 'abort') return take({ as: 'cancelled' });
        this.setNotice(failed(event.message, event.code ?? ''));
        take({ as: 'failed' });
      },
      onRunFailed: ({ error }) => {
        take({ as: 'refused', error: asApiError(error) });
        // Said on the page; the console has nothing to add.
        return { stopPropagation: true } as AgentStateMutation;
      },
    };
  }

  private fold(event: WireEvent, state: Json, mode: Mode): void {
    this.seen += 1;
    if (event.type === 'RUN_STARTED') {
      this.answers.clear();
      this.liveness.isBack();
    }
    this.records.fold(event, state, mode);
    this.painter.paint();
  }

  /** Decides what comes after a stream's end. */
  private async settle(ending: Ending): Promise<void> {
    if (this.isDisposed) return;
    if (ending.as === 'cut' || (ending.as === 'refused' && ending.error.isAway)) return this.recover();
    this.phase = 'idle';
    this.needsToken = ending.as === 'refused' && ending.error.status === 401;
    if (ending.as === 'cancelled') this.setNotice(CANCELLED);
    if (ending.as === 'refused' && !this.needsToken) this.setNotice(refused(ending.error));
    const isAlone = ending.as === 'finished' && this.runCallsAlone();
    this.painter.paint();
    if (!isAlone || this.records.waits.calls.length > 0) return;
    this.alone += 1;
    if (this.alone <= MOST_ALONE) await this.turn();
    else this.setNotice(ENDLESS);
  }

  /** Runs the calls that need nobody; says whether there were any. */
  private runCallsAlone(): boolean {
    let count = 0;
    for (const { toolCallId, name, arguments: args } of this.records.waits.calls) {
      const result = runAlone(name, args, { setBackground: (background) => (this.background = background) });
      if (result === undefined) continue;
      this.giveResult(toolCallId, result);
      count += 1;
    }
    return count > 0;
  }

  private giveResult(toolCallId: string, result: Json): void {
    const content = typeof result === 'string' ? result : JSON.stringify(result);
    this.agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId, content });
    this.records.waits.calls = this.records.waits.calls.filter((call) => call.toolCallId !== toolCallId);
  }

  /** A stream was cut. Waits for the server and looks for the run; without it, reads the thread. */
  private async recover(): Promise<void> {
    const wasRunning = this.phase === 'running';
    this.fruitless = this.seen > 1 ? 0 : this.fruitless + 1;
    this.liveness.isAway = true;
    this.painter.paint();
    await this.liveness.untilBack(this.fruitless);
    if (this.isDisposed) return;
    if (wasRunning && this.fruitless <= FRUITLESS) {
      const { runId } = this;
      const ending = await this.play('join', runId);
      if (ending.as !== 'refused' || ending.error.status !== 404) return this.settle(ending);
    }
    this.liveness.isBack();
    this.phase = 'idle';
    if (wasRunning) this.setNotice(CUT);
    if (this.fruitless <= FRUITLESS) await this.open();
    else this.painter.paint();
  }

  /** Whether the thread no longer waits for what the page shows. */
  private async isStale(): Promise<boolean> {
    const { questions, external } = this.records.waits;
    if (questions.length + external.length === 0) return false;
    const open = await openInteractions(this.threadId);
    return [...questions, ...external].some(({ id }) => !open.includes(id));
  }

  private setNotice(notice: Notice | undefined): void {
    this.notice = notice;
    keepNotice(this.threadId, notice);
  }

  private view(): View {
    const { shared, spans, waits, log, durations } = this.records;
    return {
      phase: this.phase,
      isStopping: this.isStopping,
      isAway: this.liveness.isAway,
      items: items(this.agent.messages),
      questions: waits.questions,
      given: this.answers.given(),
      calls: waits.calls,
      external: waits.external,
      notice: this.notice,
      returned: this.returned,
      durations: durations.known,
      background: this.background,
      state: this.agent.state as Json,
      base: shared.base,
      predicted: shared.predicted,
      versions: shared.versions,
      log: [...log.all],
      spans: spans.list,
      samples: spans.samples,
      usage: spans.usage,
      sent: this.sent,
      needsToken: this.needsToken,
    };
  }
}

function toolNames(described: Json | undefined): Set<string> {
  const capabilities = isObject(described) && isObject(described['capabilities']) ? described['capabilities'] : {};
  const tools = isObject(capabilities['tools']) ? capabilities['tools'] : {};
  const listed = Array.isArray(tools['items']) ? tools['items'] : [];
  return new Set(listed.filter(isObject).map((tool) => text(tool, 'name')));
}
