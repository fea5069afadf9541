/* Markdown's nodes as elements. Only what is listed here becomes an element: raw HTML stays text, images
 * are never fetched, and a link is text with a control beside it that says where it leads. */
import type { Definition, Nodes, RootContent, Table } from 'mdast';
import { Fragment, type ReactNode } from 'react';
import { webAddress } from '../lib/markdown';
import { clip, exact } from '../lib/visible';

interface Around {
  definitions: ReadonlyMap<string, Definition>;
  depth: number;
}

/** Deeper nesting is flattened: nobody reads it, and a stack has an end. */
const DEEPEST = 40;

export function rendered(nodes: readonly RootContent[], around: Around): ReactNode {
  const inner = { ...around, depth: around.depth + 1 };
  return nodes.map((node, index) => <Fragment key={index}>{element(node, inner)}</Fragment>);
}

function element(node: Nodes, around: Around): ReactNode {
  if (around.depth > DEEPEST) return plain(node);
  const children = 'children' in node ? rendered(node.children as RootContent[], around) : null;
  switch (node.type) {
    case 'paragraph':
      return <p>{children}</p>;
    case 'heading':
      return <h3 data-level={Math.min(node.depth, 4)}>{children}</h3>;
    case 'text':
    case 'html':
      return node.value;
    case 'emphasis':
      return <em>{children}</em>;
    case 'strong':
      return <strong>{children}</strong>;
    case 'delete':
      return <del>{children}</del>;
    case 'inlineCode':
      return <code>{node.value}</code>;
    case 'break':
      return <br />;
    case 'thematicBreak':
      return <hr />;
    case 'blockquote':
      return <blockquote>{children}</blockquote>;
    case 'code':
      return <Fence language={node.lang ?? ''} text={node.value} />;
    case 'list':
      return node.ordered ? <ol start={node.start ?? 1}>{children}</ol> : <ul>{children}</ul>;
    case 'listItem':
      return <li data-task={node.checked !== null && node.checked !== undefined}>{typeof node.checked === 'boolean' && <Box isChecked={node.checked} />}{children}</li>;
    case 'table':
      return <Grid table={node} around={around} />;
    case 'link':
      return <Link href={node.url}>{children}</Link>;
    case 'linkReference':
      return <Link href={around.definitions.get(node.identifier)?.url}>{children}</Link>;
    case 'image':
      return <Link href={node.url}>[image{node.alt ? `: ${node.alt}` : ''}]</Link>;
    case 'imageReference':
      return <Link href={around.definitions.get(node.identifier)?.url}>[image{node.alt ? `: ${node.alt}` : ''}]</Link>;
    case 'footnoteReference':
      return <sup>[{node.label ?? node.identifier}]</sup>;
    case 'footnoteDefinition':
      return (
        <div className="footnote">
          <sup>[{node.label ?? node.identifier}]</sup> {children}
        </div>
      );
    default:
      return null;
  }
}

function Fence({ language, text }: { language: string; text: string }) {
  return (
    <pre tabIndex={0} aria-label={language === '' ? 'Code' : `Code, ${clip(language, 30)}`}>
      <code>{text}</code>
    </pre>
  );
}

function Box({ isChecked }: { isChecked: boolean }) {
  return (
    <span className="box" role="img" aria-label={isChecked ? 'done' : 'not done'}>
      {isChecked ? '☑' : '☐'}
    </span>
  );
}

function Grid({ table, around }: { table: Table; around: Around }) {
  const [head, ...rows] = table.children;
  return (
    <div className="table" role="group" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {head?.children.map((cell, index) => (
              <th key={index} scope="col" data-align={table.align?.[index] ?? undefined}>
                {rendered(cell.children, around)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {row.children.map((cell, index) => (
                <td key={index} data-align={table.align?.[index] ?? undefined}>
                  {rendered(cell.children, around)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Link({ href, children }: { href: string | undefined; children?: ReactNode }) {
  const url = webAddress(href);
  if (url === undefined) return <span>{children}</span>;
  const whole = exact(clip(url.href, 300));
  return (
    <span className="link">
      {children}{' '}
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" aria-label={`Open ${whole}`} title={whole}>
        ↗ {exact(clip(url.host || url.protocol, 60))}
      </a>
    </span>
  );
}

/** All the text in a node, without what it means. */
function plain(node: Nodes): string {
  const parts: string[] = [];
  const left: Nodes[] = [node];
  while (left.length > 0) {
    const next = left.pop();
    if (next === undefined) break;
    if ('value' in next) parts.push(next.value);
    if ('children' in next) left.push(...[...next.children].reverse());
  }
  return parts.join('');
}
