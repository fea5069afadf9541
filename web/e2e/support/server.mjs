// The real server, started on a port of its own: the demo, or the agents of these tests together with
// the two services that they call.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const binary = process.env.ANTIPHON ?? fileURLToPath(new URL('../../../target/debug/antiphon', import.meta.url));
const agents = fileURLToPath(new URL('../agents.yaml', import.meta.url));

export const TOKENS = { user: 'alice-token-of-the-browser-tests', service: 'service-token-of-the-browser-tests' };

function restartable(args, env = {}) {
  const home = mkdtempSync(join(tmpdir(), 'antiphon-web-'));
  let child;
  let origin;
  const start = async () => {
    const fill = (text) => text.replace('HOME', home);
    child = spawn(binary, args.map(fill), {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, NO_COLOR: '1', ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const line = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')]);
    origin = /http:\/\/\S+/.exec(String(line[0]))?.[0];
    if (origin === undefined) throw new Error(`${binary} ${args.join(' ')} did not start`);
  };
  const kill = async () => {
    origin = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const close = async () => {
    await kill();
    rmSync(home, { recursive: true, force: true });
  };
  return { origin: () => origin, start, kill, close };
}

export async function demo() {
  const server = restartable(['demo', '--listen', '127.0.0.1:0', '--store', 'memory']);
  await server.start();
  return server;
}

/** The vault that private values are delivered to, and the registry that verifies people. */
async function services() {
  const received = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ path: request.url, body });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { received, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

export async function office() {
  const called = await services();
  const env = { STORE: 'sqlite:HOME/office.db', USER_TOKEN: TOKENS.user, SERVICE_TOKEN: TOKENS.service, SERVICE_URL: called.url };
  const server = restartable(['serve', agents, '--listen', '127.0.0.1:0'], env);
  await server.start();
  const close = async () => {
    called.close();
    await server.close();
  };
  return { ...server, received: called.received, close };
}
