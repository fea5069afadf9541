/* The last run in time: what ran when, and what came over the wire. */
import { bytes, duration } from '../lib/format';
import type { View } from '../lib/view';
import { Plot } from './Plot';
import { Waterfall } from './Waterfall';

/** A common rule of thumb; the exact number stands above it where the server reports usage. */
const CHARACTERS_PER_TOKEN = 4;

export function TimelinePane({ view: { spans, samples, usage } }: { view: View }) {
  if (spans.length === 0) return <p className="nothing">Nothing ran yet. A run is drawn here while it goes on.</p>;
  const start = Math.min(...spans.map((span) => span.start), samples[0]?.at ?? Number.POSITIVE_INFINITY);
  const lastByte = samples.at(-1)?.at ?? start;
  const end = Math.max(lastByte, ...spans.map((span) => span.end ?? lastByte), start + 1);
  const first = spans.find(({ kind }) => kind === 'text' || kind === 'reasoning' || kind === 'arguments');
  const total = samples.at(-1);
  const facts: [string, string][] = [
    ['Duration', duration(end - start)],
    ['First output', first === undefined ? '–' : duration(first.start - start)],
    ['Received', bytes(total?.bytes ?? 0)],
    usage === undefined
      ? ['Output, estimated', `≈ ${Math.ceil((total?.characters ?? 0) / CHARACTERS_PER_TOKEN)} tokens`]
      : ['Tokens', `${usage.input.toLocaleString('en')} in, ${usage.output.toLocaleString('en')} out`],
  ];
  return (
    <>
      <dl className="figures">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>Waterfall</h3>
      <Waterfall spans={spans} start={start} end={end} />
      <h3>Received over time</h3>
      <Plot name="Bytes" points={samples.map(({ at, bytes: y }) => [at - start, y])} width={end - start} format={bytes} />
      <h3>Output over time</h3>
      <Plot name="Tokens, estimated" points={samples.map(({ at, characters }) => [at - start, characters / CHARACTERS_PER_TOKEN])} width={end - start} format={(tokens) => `≈ ${Math.round(tokens)} tokens`} />
    </>
  );
}
