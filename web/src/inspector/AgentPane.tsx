/* What the agent says that it can do. */
import { useEffect, useState } from 'react';
import { asApiError, describeAgent } from '../lib/api';
import { isObject, type Json, type JsonObject } from '../lib/json';
import { clip, label, prose } from '../lib/visible';
import { text } from '../lib/wire';
import { Code } from '../ui/Code';
import { Tree } from './Tree';

export function AgentPane({ name }: { name: string }) {
  const [described, setDescribed] = useState<JsonObject>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isCurrent = true;
    describeAgent(name).then(
      (answer) => isCurrent && setDescribed(isObject(answer) ? answer : {}),
      (error: unknown) => isCurrent && setProblem(asApiError(error).message),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  if (problem !== '') return <p className="wrong">{problem}</p>;
  if (described === undefined) return <p className="nothing">Loading…</p>;
  const capabilities = isObject(described['capabilities']) ? described['capabilities'] : {};
  const { tools, identity, ...groups } = capabilities;
  const items = isObject(tools) && Array.isArray(tools['items']) ? tools['items'].filter(isObject) : [];
  return (
    <>
      <h3>{label(name, 80)}</h3>
      <p>{prose(clip(text(described, 'description'), 1000))}</p>
      {isObject(identity) && text(identity, 'provider') !== '' && (
        <p className="note">Model: {label(text(identity, 'provider'), 80)}</p>
      )}
      <h3>Tools</h3>
      {items.length === 0 ? <p className="nothing">It has no tools of its own.</p> : items.map((tool, index) => <ToolLine key={index} tool={tool} />)}
      <h3>Capabilities</h3>
      <Matrix groups={groups} />
      <details className="card">
        <summary>As the server sends it</summary>
        <Code value={described} label="Description" />
      </details>
    </>
  );
}

function ToolLine({ tool }: { tool: JsonObject }) {
  return (
    <details className="card">
      <summary>
        <span className="tool-name">{label(text(tool, 'name'), 100)}</span>
        <span className="tool-gist">{label(text(tool, 'description'), 100)}</span>
      </summary>
      <p>{prose(clip(text(tool, 'description'), 2000))}</p>
      {tool['parameters'] !== undefined && <Tree value={tool['parameters']} />}
    </details>
  );
}

/** Flags as words: what is not declared is not shown as missing. */
function Matrix({ groups }: { groups: JsonObject }) {
  const rows = Object.entries(groups).flatMap(([group, members]) =>
    isObject(members) ? Object.entries(members).map(([member, value]): [string, Json] => [`${group} · ${member}`, value]) : [],
  );
  if (rows.length === 0) return <p className="nothing">None are declared.</p>;
  return (
    <table className="matrix">
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{label(name, 80)}</th>
            <td data-value={String(value === true)}>{value === true ? 'yes' : value === false ? 'no' : label(JSON.stringify(value), 80)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
