// Two turns with the recipe agent, as a page would hold them with the official clients: the state grows while
// the model writes, is what the tool took in the end, and the second turn works on what the first one left.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after, before } from "node:test";
import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "agui-client-0059";
import { startDemo } from "../../conformance/lib/server.mjs";

let demo;
before(async () => { demo = await startDemo(); });
after(() => demo.stop());

/** Says something and returns what the page saw: event types, and each state on the way. */
async function say(agent, content) {
  const types = [], states = [];
  agent.addMessage({ id: randomUUID(), role: "user", content });
  await agent.runAgent({}, {
    onEvent: ({ event }) => { types.push(event.type); },
    onStateChanged: ({ state }) => { states.push(structuredClone(state)); },
  });
  return { types, states };
}

const lastRecipe = (agent) => {
  const calls = agent.messages.flatMap((m) => m.toolCalls ?? []).filter((c) => c.function.name === "update_recipe");
  return JSON.parse(calls.at(-1).function.arguments).recipe;
};

for (const [version, Agent] of Object.entries({ "1.0.0": HttpAgent, "0.0.59": HttpAgent0 })) {
  test(`@ag-ui/client ${version} writes a recipe and changes it`, async () => {
    const agent = new Agent({ url: `${demo.url}/agents/recipe`, threadId: randomUUID(), initialState: { recipe: {} } });

    const first = await say(agent, "Create a pasta recipe");
    const written = structuredClone(agent.state.recipe);
    assert.equal(first.types.at(-1), "RUN_FINISHED");
    assert.equal(written.title, "Classic Pasta Carbonara");
    assert.deepEqual(written, lastRecipe(agent), "the state is not what the tool took");
    assert.ok(first.types.filter((type) => type === "STATE_DELTA").length > 1, "the state did not grow while the model wrote");
    assert.ok(first.states.some((s) => s.recipe && JSON.stringify(s.recipe).length < JSON.stringify(written).length), "no smaller state was seen");

    const held = agent.messages.length;
    const second = await say(agent, "Make it vegetarian");
    assert.equal(second.types.at(-1), "RUN_FINISHED");
    assert.ok(agent.messages.length > held + 1, "the second turn added no answer");
    assert.deepEqual(agent.state.recipe, lastRecipe(agent));
    assert.equal(agent.state.recipe.title, "Carbonara Vegetariana");
    assert.deepEqual(agent.state.recipe.special_preferences, ["Vegetarian"]);
  });
}
