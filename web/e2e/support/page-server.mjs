// Serves the built page under the headers that the real server sends, and hands everything else to an
// agent server. Tests can take that server away and bring it back behind the same address.
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

export const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

async function file(path, response) {
  const name = path === '/' ? 'index.html' : normalize(path).replace(/^[/\\]+/, '');
  const body = await readFile(join(DIST, name));
  response.writeHead(200, { ...HEADERS, 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'cache-control': 'no-cache' });
  response.end(body);
}

/** `target()` is the agent server's origin; undefined while it is away. */
export async function pageServer(target) {
  const sockets = new Set();
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://page');
    if (request.method === 'GET' && (pathname === '/' || pathname.startsWith('/assets/'))) {
      file(pathname, response).catch(() => response.writeHead(404).end());
      return;
    }
    const origin = target();
    if (origin === undefined) {
      request.socket.destroy();
      return;
    }
    const url = new URL(request.url, origin);
    const { origin: _origin, ...headers } = request.headers;
    const upstream = http.request(url, { method: request.method, headers: { ...headers, host: url.host } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.on('error', () => response.destroy());
      answer.on('aborted', () => response.destroy());
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    /** Cuts every connection. */
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
