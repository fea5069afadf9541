// The agent that clients are tried on, as a process of its own. See interop/agent for what it knows.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BINARY = process.env.ANTIPHON_INTEROP_AGENT ?? fileURLToPath(new URL("../../target/debug/interop-agent", import.meta.url));
const START_LIMIT_MS = 20_000;

/**
 * Starts the agent on a free port, or at `listen`.
 *
 * @param {{ origins?: string[], tokens?: Record<string, string>, store?: string, listen?: string }} [options]
 *   origins whose pages may call, users by their tokens, a file for the threads
 * @returns {Promise<{ url: string, stop: () => Promise<unknown> }>}
 */
export async function startAgent({ origins = [], tokens = {}, store, listen } = {}) {
  const env = {
    PATH: process.env.PATH,
    ORIGINS: origins.join(","),
    TOKENS: Object.entries(tokens).map((pair) => pair.join("=")).join(","),
    ...(store && { STORE: store }),
    ...(listen && { LISTEN: listen }),
  };
  const child = spawn(BINARY, { stdio: ["ignore", "pipe", "pipe"], env });
  let log = "";
  child.stderr.on("data", (data) => { log = (log + data).slice(-8000); });
  const ended = new Promise((resolve) => {
    child.on("exit", (code, signal) => resolve(code ?? signal));
    child.on("error", (error) => { log += error; resolve(error); });
  });
  const ready = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /^listening on (http:\/\/\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    });
  });
  const late = new Promise((resolve) => setTimeout(resolve, START_LIMIT_MS).unref());
  const url = await Promise.race([ready, ended.then(() => undefined), late]);
  if (!url) {
    child.kill("SIGKILL");
    throw new Error(`${BINARY} did not say "listening on":\n${log}`);
  }
  return { url, stop: () => { child.kill("SIGTERM"); return ended; } };
}
