// Serves a folder of built files on a free port, as a web server beside the agent would.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/**
 * @param {string} folder the files
 * @param {(request, response) => boolean} [first] answers a request itself where it returns true
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveFolder(folder, first = () => false) {
  const server = createServer(async (request, response) => {
    if (first(request, response)) return;
    const path = normalize(new URL(request.url, "http://site").pathname);
    const file = join(folder, path === "/" ? "index.html" : path);
    try {
      const bytes = await readFile(file);
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
