// The built page, with CopilotKit's own Node runtime at /api/copilotkit in front of the agent.
import { fileURLToPath } from "node:url";
import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { serveFolder } from "../../support/site.mjs";

const PREFIX = "/api/copilotkit";
const FILES = fileURLToPath(new URL("dist", import.meta.url));

/** The page on a free port; `leadTo` tells the runtime where the agent is. */
export async function startSite() {
  let listener;
  const site = await serveFolder(FILES, (request, response) => {
    if (!request.url.startsWith(PREFIX)) return false;
    listener(request, response);
    return true;
  });
  const leadTo = (url) => {
    const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url }) } });
    listener = createCopilotNodeListener({ runtime, basePath: PREFIX });
  };
  return { ...site, leadTo };
}
