/* One thread with one agent: opens it, runs turns, answers questions, and comes back to runs that are
 * under way after a cut, a reload or a restart of the server. The views read `snapshot()`. */
import { randomUUID, type ResumeEntry } from '@ag-ui/client';
import { Answers, type Answer } from './answers';
import type { Mode } from './agent';
import { asApiError, cancelRun, openInteractions, patchState } from './api';
import { untilLastInput } from './items';
import { isObject, type Json, type JsonObject } from './json';
import { Liveness } from './liveness';
import { rememberAgent } from './memory';
import { CANCELLED, CUT, ENDLESS, keepNotice, keptNotice, refused, type Notice } from './notice';
import { Painter } from './painter';
import { Player, type Ending } from './player';
import { Records } from './records';
import { runAlone } from './tools';
import type { View } from './view';

/** Times that a run is joined again although nothing new came of it. */
const FRUITLESS = 4;
/** Runs in a row that nobody but the page's own tools went on with. */
const MOST_ALONE = 20;

export class Thread {
  readonly threadId: string;
  readonly agentName: string;
  private readonly answers = new Answers();
  private readonly records: Records;
  private readonly player: Player;
  private readonly painter: Painter<View>;
  private readonly liveness: Liveness;
  private phase: View['phase'] = 'opening';
  private ended = 0;
  private isStopping = false;
  private isDisposed = false;
  private fruitless = 0;
  private alone = 0;
  private notice: Notice | undefined;
  private returned: string | undefined;
  /** What was said last, until a run has taken it. */
  private unsent: { id: string; text: string } | undefined;
  private needsToken = false;

  constructor(agentName: string, threadId: string) {
    this.threadId = threadId;
    this.agentName = agentName;
    this.records = new Records(threadId);
    this.player = new Player(agentName, threadId, this.records, {
      onStarted: (mode) => {
        if (mode !== 'open') {
          this.answers.clear();
          this.unsent = undefined;
        }
        this.liveness.isBack();
      },
      onChange: () => this.painter.paint(),
    });
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
    this.player.agent.abortRun();
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
    this.giveBack();
    await this.settle(ending);
  }

  async send(said: string): Promise<void> {
    if (this.phase !== 'idle' || this.records.waits.questions.length > 0 || said === '') return;
    this.say(said);
    await this.turn();
  }

  /** Lets go of everything that is asked and says something else instead. */
  async steer(said: string): Promise<void> {
    const { questions } = this.records.waits;
    if (this.phase !== 'idle' || questions.length === 0) return;
    this.say(said);
    await this.run('turn', questions.map(({ id }) => ({ interruptId: id, status: 'cancelled' as const })));
  }

  /** Asks again from the last thing that was said. After a refused answer the thread is read again. */
  async retry(): Promise<void> {
    if (this.phase !== 'idle') return;
    this.alone = 0;
    if (this.records.waits.questions.length > 0 || this.player.agent.messages.length === 0) return this.open();
    this.player.agent.setMessages(untilLastInput(this.player.agent.messages));
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
    const { runId } = this.player;
    await cancelRun(runId, this.threadId).catch(() => this.player.agent.abortRun());
    setTimeout(() => this.phase === 'running' && this.player.runId === runId && this.player.agent.abortRun(), 5000);
  }

  /** Replaces keys of the shared state. A thread that does not exist yet gets them with its first run. */
  async editState(delta: JsonObject): Promise<void> {
    let state: Json = { ...(isObject(this.player.agent.state) ? this.player.agent.state : {}), ...delta };
    try {
      state = await patchState(this.threadId, delta);
    } catch (error) {
      if (asApiError(error).status !== 404) throw error;
    }
    this.player.agent.setState(state);
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

  private say(text: string): void {
    this.alone = 0;
    this.unsent = { id: randomUUID(), text };
    this.player.agent.addMessage({ id: this.unsent.id, role: 'user', content: text });
  }

  /** What the server did not take, and does not have, goes back to where it was written. */
  private giveBack(): void {
    const { unsent } = this;
    this.unsent = undefined;
    if (unsent !== undefined && !this.player.agent.messages.some(({ id }) => id === unsent.id)) this.returned = unsent.text;
  }

  private turn(): Promise<void> {
    return this.run('turn');
  }

  private async run(mode: Mode, resume?: ResumeEntry[]): Promise<void> {
    this.phase = 'running';
    this.setNotice(undefined);
    const ending = await this.play(mode, randomUUID(), resume);
    if (ending.as === 'refused' && ending.error.status === 409) {
      // The thread is not where the page thought it was: look.
      this.phase = 'idle';
      await this.open();
      if (this.notice === undefined && this.phase === 'idle') this.setNotice(refused(ending.error));
      return;
    }
    await this.settle(ending);
  }

  private async join(runId: string): Promise<void> {
    this.phase = 'running';
    await this.settle(await this.play('join', runId));
  }

  private async play(mode: Mode, runId: string, resume?: ResumeEntry[]): Promise<Ending> {
    this.isStopping = false;
    this.painter.paint();
    if (mode === 'open') return this.player.play(mode, runId);
    rememberAgent(this.threadId, this.agentName);
    const ending = await this.player.play(mode, runId, resume);
    this.ended += 1;
    return ending;
  }

  /** Decides what comes after a stream's end. */
  private async settle(ending: Ending): Promise<void> {
    if (this.isDisposed) return;
    if (ending.as === 'cut' || (ending.as === 'refused' && ending.error.isAway)) {
      return this.recover(ending.as === 'refused' && ending.error.code === 'run_elsewhere');
    }
    this.phase = 'idle';
    this.needsToken = ending.as === 'refused' && ending.error.status === 401;
    if (ending.as === 'cancelled') this.setNotice(CANCELLED);
    if (ending.as === 'failed') this.setNotice(ending.notice);
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
      const result = runAlone(name, args);
      if (result === undefined) continue;
      this.giveResult(toolCallId, result);
      count += 1;
    }
    return count > 0;
  }

  private giveResult(toolCallId: string, result: Json): void {
    const content = typeof result === 'string' ? result : JSON.stringify(result);
    this.player.agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId, content });
    this.records.waits.calls = this.records.waits.calls.filter((call) => call.toolCallId !== toolCallId);
  }

  /** A stream was cut. Waits for the server and looks for the run; without it, reads the thread. */
  private async recover(isElsewhere: boolean): Promise<void> {
    const wasRunning = this.phase === 'running';
    this.fruitless = this.player.seen > 1 || isElsewhere ? 0 : this.fruitless + 1;
    this.liveness.isAway = true;
    this.painter.paint();
    await this.liveness.untilBack(isElsewhere ? 2 : this.fruitless);
    if (this.isDisposed) return;
    if (wasRunning && this.fruitless <= FRUITLESS) {
      const { runId } = this.player;
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
    this.painter.paint();
  }

  private view(): View {
    const { agent, sent } = this.player;
    return {
      phase: this.phase,
      ended: this.ended,
      isStopping: this.isStopping,
      isAway: this.liveness.isAway,
      given: this.answers.given(),
      notice: this.notice,
      returned: this.returned,
      needsToken: this.needsToken,
      state: agent.state as Json,
      sent,
      ...this.records.view(agent.messages),
    };
  }
}
