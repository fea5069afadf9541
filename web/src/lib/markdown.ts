/* Reads Markdown: in pieces where it is long, with GitHub's additions. */
import type { Definition, Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

const syntax = gfm({ singleTilde: false });
const additions = gfmFromMarkdown();

export function parse(text: string): Root {
  return fromMarkdown(text, { extensions: [syntax], mdastExtensions: [additions] });
}

/** Where `[text][name]` leads, by name. The first definition of a name counts. */
export function definitions(root: Root): ReadonlyMap<string, Definition> {
  const found = new Map<string, Definition>();
  const visit = (node: Nodes) => {
    if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node);
    if ('children' in node) node.children.forEach(visit);
  };
  visit(root);
  return found;
}

const LONG = 2000;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that may belong to what stands before the blank line: indented, or a list item, quote or table. */
const CONTINUES = /^(?:\s|[-*+>|]|\d+[.)]|\[[^\]]*\]:)/;

/**
 * Cuts a long text into pieces that can be parsed one by one: at blank lines, outside fences, where a
 * new paragraph, heading or fence begins. Joined with blank lines the pieces are the text.
 */
export function blocks(text: string): string[] {
  if (text.length < LONG) return [text];
  const pieces: string[] = [];
  let piece: string[] = [];
  let fence: string | undefined;
  let isBlank = false;
  let size = 0;
  for (const line of text.split('\n')) {
    if (isBlank && fence === undefined && size > LONG / 4 && line !== '' && !CONTINUES.test(line)) {
      pieces.push(piece.join('\n'));
      piece = [];
      size = 0;
    }
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
    }
    piece.push(line);
    size += line.length + 1;
    isBlank = line.trim() === '';
  }
  return [...pieces, piece.join('\n')];
}

/** The address of a link that may be offered: on the web or for mail, and absolute. */
export function webAddress(href: string | undefined): URL | undefined {
  if (href === undefined || href.length > 4000) return undefined;
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}
