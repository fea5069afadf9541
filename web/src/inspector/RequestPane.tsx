/* What this page asked the server for, to look at and to repeat in a terminal. */
import { useState } from 'react';
import type { Sent } from '../lib/agent';
import { curl } from '../lib/curl';
import type { Json } from '../lib/json';
import { label } from '../lib/visible';
import { Code } from '../ui/Code';
import { Copy } from '../ui/Copy';

export function RequestPane({ sent }: { sent: readonly Sent[] }) {
  const [chosen, setChosen] = useState<number>();
  const request = sent.find(({ at }) => at === chosen) ?? sent.at(-1);
  if (request === undefined) return <p className="nothing">No request yet.</p>;
  const path = new URL(request.url).pathname + new URL(request.url).search;
  return (
    <>
      <div className="bar">
        <label className="choice">
          <span className="hidden">Request</span>
          <select value={request.at} onChange={(event) => setChosen(Number(event.target.value))}>
            {[...sent].reverse().map(({ at, method, url }) => (
              <option key={at} value={at}>
                {new Date(at).toLocaleTimeString()} {method} {label(new URL(url).pathname, 60)}
              </option>
            ))}
          </select>
        </label>
        <Copy what="the request as a curl command" words="Copy as curl" text={() => curl(request)} />
      </div>
      <p className="endpoint">
        <span className="tag">{request.method}</span> <code>{label(path, 300)}</code>
      </p>
      {request.body !== undefined && <Code value={request.body as Json} label="Body" />}
      <p className="note">Private values and access tokens are left out.</p>
    </>
  );
}
