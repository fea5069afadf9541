// Starts app.py, which serves the inspector and the server behind one origin, on a free port.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const VENV = process.env.INSPECTOR_VENV ?? fileURLToPath(new URL("../../target/venv-interop-inspector", import.meta.url));
const START_LIMIT_MS = 20_000;

/**
 * @param {string} server the address of the AG-UI server behind it
 * @returns {Promise<{ url: string, stop: () => Promise<unknown> }>} the inspector's page
 */
export async function startInspector(server) {
  const child = spawn(`${VENV}/bin/uvicorn`, ["app:app", "--port", "0"], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: "1", ANTIPHON_URL: server },
  });
  let log = "";
  const ended = new Promise((resolve) => {
    child.on("exit", (code, signal) => resolve(code ?? signal));
    child.on("error", (error) => { log += error; resolve(error); });
  });
  const ready = new Promise((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      log = `${log}${line}\n`.slice(-8000);
      const url = /running on (http:\/\/\S+)/.exec(line)?.[1];
      if (url) resolve(url);
    });
  });
  const late = new Promise((resolve) => setTimeout(resolve, START_LIMIT_MS).unref());
  const url = await Promise.race([ready, ended.then(() => undefined), late]);
  if (!url) {
    child.kill("SIGKILL");
    throw new Error(`the inspector was not served:\n${log}`);
  }
  return { url: `${url}/agui-inspector/`, stop: () => { child.kill("SIGTERM"); return ended; } };
}
