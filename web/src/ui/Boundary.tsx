/* Keeps a fault in one part of the page from taking the rest with it. */
import { Component, type ReactNode } from 'react';

export class Boundary extends Component<{ what: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="nothing" role="alert">
        <p>{this.props.what} can’t be shown.</p>
        <p>
          <button type="button" onClick={() => this.setState({ failed: false })}>
            Try again
          </button>
        </p>
      </div>
    );
  }
}
