/* Tells listeners that there is something new, at most once a frame: a fast run has thousands of events
 * a second, and a screen has sixty frames. */

export class Painter<View> {
  private drawn: View | undefined;
  private readonly make: () => View;
  private readonly listeners = new Set<() => void>();
  private pending = false;
  private stopped = false;

  constructor(make: () => View) {
    this.make = make;
  }

  get current(): View {
    this.drawn ??= this.make();
    return this.drawn;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  paint(): void {
    if (this.pending || this.stopped) return;
    this.pending = true;
    const draw = () => {
      this.pending = false;
      this.draw();
    };
    // A hidden tab has no frames.
    if (document.hidden) setTimeout(draw, 100);
    else requestAnimationFrame(draw);
  }

  stop(): void {
    this.stopped = true;
  }

  private draw(): void {
    if (this.stopped) return;
    this.drawn = this.make();
    for (const listener of this.listeners) listener();
  }
}
