// The server under test: the binary in ANTIPHON_BIN, or, for the demo, one that runs already (ANTIPHON_URL).
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const START_LIMIT_MS = 20_000;

/** Starts the demo on a free port. Returns `{ url, stop }`; `stop` resolves with the exit code. */
export async function startDemo() {
  if (process.env.ANTIPHON_URL) return { url: process.env.ANTIPHON_URL.replace(/\/$/, ""), stop: async () => 0 };
  return start(["demo", "--listen", "127.0.0.1:0", "--store", "memory"]);
}

/** Serves an agent file, given as an object, on a free port. Returns as `startDemo` does. */
export async function serveFile(agentFile) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "antiphon-"));
  const file = path.join(folder, "antiphon.yaml");
  fs.writeFileSync(file, JSON.stringify(agentFile));
  const server = await start(["serve", file, "--listen", "127.0.0.1:0", "--store", "memory"]);
  return { ...server, stop: async () => { const code = await server.stop(); fs.rmSync(folder, { recursive: true }); return code; } };
}

async function start(args) {
  const binary = process.env.ANTIPHON_BIN;
  if (!binary) throw new Error("set ANTIPHON_BIN to the antiphon binary, or, for the demo, ANTIPHON_URL to a running one");
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"], env: withoutProviderKeys() });
  let log = "";
  child.stderr.on("data", (data) => { log = (log + data).slice(-8000); });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
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
    throw new Error(`the server did not say "listening on":\n${log}`);
  }
  return { url, stop: () => { child.kill("SIGTERM"); return ended; } };
}

/** The demo must play its script, whatever provider keys the person who runs the tests has. */
function withoutProviderKeys() {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OLLAMA_HOST, ...rest } = process.env;
  return rest;
}
