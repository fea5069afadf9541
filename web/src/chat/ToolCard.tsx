/* A tool call: its name, how it went, how long it took; arguments and result unfold. */
import { duration as inWords } from '../lib/format';
import type { Item } from '../lib/items';
import { readJson } from '../lib/json';
import { label } from '../lib/visible';
import { Code } from '../ui/Code';
import { Icon } from '../ui/Icon';
import { Haiku } from './Haiku';

type ToolItem = Extract<Item, { kind: 'tool' }>;

export function ToolCard({ item, duration, isLive }: { item: ToolItem; duration: number | undefined; isLive: boolean }) {
  const { name, result, error } = item;
  const args = readJson(item.arguments);
  const failed = error !== undefined || /^error\b/i.test(result ?? '');
  const state = result === undefined ? (isLive ? 'running' : 'open') : failed ? 'failed' : 'done';
  return (
    <>
      <details className="card tool" data-state={state}>
        <summary>
          <Icon name={failed ? 'alert' : 'tool'} />
          <span className="tool-name">{label(name, 100)}</span>
          <span className="tool-gist">{gist(item.arguments)}</span>
          <span className="tag">{WORDS[state]}</span>
          {duration !== undefined && <span className="tag time">{inWords(duration)}</span>}
        </summary>
        <h3>Arguments</h3>
        <Code value={item.arguments === '' ? '{}' : item.arguments} label="Arguments" />
        {error !== undefined && (
          <>
            <h3>Error</h3>
            <Code value={error} label="Error" />
          </>
        )}
        {result !== undefined && (
          <>
            <h3>Result</h3>
            <Code value={result} label="Result" />
          </>
        )}
      </details>
      {name === 'generate_haiku' && <Haiku value={args} />}
    </>
  );
}

const WORDS = { running: 'running', open: 'no result yet', failed: 'failed', done: 'done' };

/** The first of the arguments, so that a folded card already says what it was about. */
function gist(args: string): string {
  const short = args.length > 200 ? args.slice(0, 200) : args;
  return label(short.replace(/^\{|\}$/g, ''), 70);
}
