import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { blocks, webAddress } from '../src/lib/markdown';
import { Markdown } from '../src/ui/Markdown';

const html = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

describe('markdown', () => {
  test('markup that is no markdown stays text', () => {
    for (const attack of ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', 'a <b onclick=x>b</b>']) {
      expect(html(attack)).not.toMatch(/<(img|script|b)\b/);
    }
  });

  test('an image is a link that says where it leads, and nothing that loads', () => {
    const shown = html('![a picture](https://elsewhere.example/pixel.png)');
    expect(shown).not.toMatch(/<img|src=/);
    expect(shown).toContain('[image: a picture]');
    expect(shown).toContain('rel="noopener noreferrer nofollow"');
    expect(shown).toContain('elsewhere.example');
  });

  test('only addresses of the web and of mail become links', () => {
    for (const href of ['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', '//elsewhere.example', '/agents', '#top', 'java\nscript:alert(1)']) {
      expect(html(`[x](<${href.replace('\n', '&#10;')}>)`)).not.toContain('<a ');
    }
    expect(html('[x](https://example.com)')).toContain('href="https://example.com/"');
    expect(html('[x][r]\n\n[r]: mailto:a@example.com')).toContain('href="mailto:a@example.com"');
  });

  test('characters that reorder text are named', () => {
    expect(html('admin\u202Etxt')).toContain('admin⟨U+202E⟩txt');
  });

  test('lists, tables, tasks and code look like what they are', () => {
    expect(html('- [x] done')).toContain('aria-label="done"');
    expect(html('| a | b |\n|---|--:|\n| 1 | 2 |')).toContain('<th scope="col"');
    expect(html('3. three')).toContain('<ol start="3">');
    expect(html('```rust\nfn main() {}\n```')).toContain('<code>fn main() {}</code>');
  });

  test('very deep nesting is flattened and not lost', () => {
    expect(html(`${'> '.repeat(60)}deep`)).toContain('deep');
  });
});

describe('blocks', () => {
  const long = (count: number) => Array.from({ length: count }, (_, index) => `Paragraph ${index} ${'word '.repeat(40)}`).join('\n\n');

  test('joined again they are the text', () => {
    const text = long(40);
    expect(blocks(text).length).toBeGreaterThan(3);
    expect(blocks(text).join('\n')).toBe(text);
  });

  test('a fence is never cut', () => {
    const text = `${long(10)}\n\n\`\`\`\n${long(20)}\n\`\`\`\n\n${long(10)}`;
    for (const block of blocks(text)) expect(block.split('```').length % 2).toBe(1);
  });

  test('a list stays in one piece', () => {
    const list = Array.from({ length: 60 }, (_, index) => `${index + 1}. ${'item '.repeat(20)}`).join('\n\n');
    expect(blocks(list)).toHaveLength(1);
  });

  test('blocks that are complete do not change while the text grows', () => {
    const text = long(40);
    const early = blocks(text.slice(0, 6000));
    const late = blocks(text);
    expect(late.slice(0, early.length - 1)).toEqual(early.slice(0, -1));
  });
});

test('an address has to be absolute and of bounded length', () => {
  expect(webAddress(undefined)).toBeUndefined();
  expect(webAddress('example.com')).toBeUndefined();
  expect(webAddress(`https://example.com/${'a'.repeat(5000)}`)).toBeUndefined();
  expect(webAddress('HTTPS://Example.com')?.host).toBe('example.com');
});
