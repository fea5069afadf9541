/* Notices that the server went away while nothing streams, and that it is back. */
import { asApiError, isAlive } from './api';

interface Hooks {
  /** Whether the thread has moved on without the page; throws where the server does not answer. */
  probe: () => Promise<boolean>;
  isBusy: () => boolean;
  /** Something is expected to happen at the server. */
  isUrgent: () => boolean;
  /** The server is back, or the thread has moved on. */
  onBack: () => void;
  onChange: () => void;
}

const IDLE = 5000;
const URGENT = 1500;
const AWAY = 800;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class Liveness {
  isAway = false;
  private readonly hooks: Hooks;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  constructor(hooks: Hooks) {
    this.hooks = hooks;
  }

  start(): void {
    if (this.timer !== undefined) return;
    this.schedule();
    document.addEventListener('visibilitychange', this.onVisible);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.onVisible);
  }

  isBack(): void {
    this.isAway = false;
  }

  /** Resolves when the server answers again; later with each time that this did not help. */
  async untilBack(fruitless: number): Promise<void> {
    await sleep(Math.min(200 * 2 ** fruitless, 4000));
    while (!this.stopped && !(await isAlive())) await sleep(AWAY);
  }

  /** While the page was out of sight, another tab may have gone on with the thread. */
  private readonly onVisible = () => {
    if (!document.hidden && !this.isAway && !this.hooks.isBusy()) this.hooks.onBack();
  };

  private schedule(): void {
    if (this.stopped) return;
    const pause = this.isAway ? AWAY : this.hooks.isUrgent() ? URGENT : IDLE;
    this.timer = setTimeout(() => void this.tick().finally(() => this.schedule()), pause);
  }

  private async tick(): Promise<void> {
    if (this.hooks.isBusy() || (document.hidden && !this.isAway)) return;
    const wasAway = this.isAway;
    let isStale = false;
    try {
      isStale = await this.hooks.probe();
      this.isAway = !(await isAlive());
    } catch (error) {
      const { isAway, status } = asApiError(error);
      this.isAway = isAway;
      isStale = status === 404;
    }
    if (this.stopped || this.hooks.isBusy()) return;
    if (wasAway !== this.isAway) this.hooks.onChange();
    if (!this.isAway && (wasAway || isStale)) this.hooks.onBack();
  }
}
