/* One rising line over time, with its last value and the time it took. */
import { duration } from '../lib/format';

interface Props {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
  width: number;
  format: (value: number) => string;
}

const W = 360;
const H = 72;

export function Plot({ name, points, width, format }: Props) {
  const top = Math.max(1, ...points.map(([, y]) => y));
  const last = points.at(-1)?.[1] ?? 0;
  const place = ([x, y]: readonly [number, number]) => `${((Math.max(0, x) / width) * W).toFixed(1)},${(H - (y / top) * (H - 4)).toFixed(1)}`;
  const line = points.length === 0 ? '' : `M0,${H} L${[...points, [width, last] as const].map(place).join(' L')}`;
  return (
    <figure className="plot">
      <svg viewBox={`0 0 ${W} ${H}`} preserveAspectRatio="none" role="img" aria-label={`${name}: ${format(last)} after ${duration(width)}`}>
        <path className="plot-area" d={line === '' ? '' : `${line} L${W},${H} Z`} />
        <path className="plot-line" d={line} />
      </svg>
      <figcaption>
        <span>0</span>
        <span>{format(last)}</span>
        <span>{duration(width)}</span>
      </figcaption>
    </figure>
  );
}
