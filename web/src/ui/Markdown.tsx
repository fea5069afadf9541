/* Markdown that a model wrote. Blocks that are complete are not parsed again while the rest streams, and
 * a text that the parser gives up on is shown as it is. */
import { Component, memo, useMemo, type ReactNode } from 'react';
import { blocks, definitions, parse } from '../lib/markdown';
import { prose } from '../lib/visible';
import { rendered } from './markdownNodes';

class Fallback extends Component<{ text: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  override render() {
    return this.state.failed ? <p className="plain">{this.props.text}</p> : this.props.children;
  }
}

const LONGEST_BLOCK = 40_000;

const Block = memo(function Block({ text }: { text: string }) {
  if (text.length > LONGEST_BLOCK) return <p className="plain">{text}</p>;
  return (
    <Fallback text={text}>
      <Parsed text={text} />
    </Fallback>
  );
});

function Parsed({ text }: { text: string }) {
  return useMemo(() => {
    const root = parse(text);
    return rendered(root.children, { definitions: definitions(root), depth: 0 });
  }, [text]);
}

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      {blocks(prose(text)).map((block, index) => (
        <Block key={index} text={block} />
      ))}
    </div>
  );
});
