// Writes the licences of everything that the bundle is made of to THIRD-PARTY-LICENSES.txt. Equal texts
// are written once; what is in the list is what `npm ls --omit=dev` finds.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const listed = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root, encoding: 'utf8' });
const folders = listed.split('\n').filter((folder) => folder.includes('node_modules') && existsSync(join(folder, 'package.json')));

const byText = new Map();
for (const folder of folders) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).sort().find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
  byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
}
const sections = [...byText].map(([text, names]) => [[...new Set(names)].sort().join('\n'), text]);
sections.sort(([a], [b]) => (a < b ? -1 : 1));
const written = sections.map(([names, text]) => `${names}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
writeFileSync(join(root, 'THIRD-PARTY-LICENSES.txt'), written);
