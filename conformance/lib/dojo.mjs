// What the AG-UI Dojo's pages expect of the agents behind them, one conversation per page.
//
// A conversation: the agent's name, what the page brings (`tools`, `state`, `context`), and its turns.
// A turn says something or answers the open browser tools, and checks the run that follows.
import assert from "node:assert/strict";

const tool = (name, properties) => ({ name, description: `The page's ${name}.`, parameters: { type: "object", properties } });
const changeBackground = tool("change_background", { background: { type: "string" } });

const RECIPE = {
  title: "Make Your Recipe",
  skill_level: "Intermediate",
  cooking_time: "45 min",
  special_preferences: [],
  ingredients: [{ icon: "🥕", name: "Carrots", amount: "3 large, grated" }],
  instructions: ["Preheat oven"],
};

/** Event types in order, runs of the same type once. */
export const outline = (run) => run.events.map((e) => e.type).filter((type, i, all) => type !== all[i - 1]);

/** All streamed text of a run. */
export const textOf = (run) => run.events.filter((e) => e.type === "TEXT_MESSAGE_CONTENT").map((e) => e.delta).join("");

const callsOf = (messages) => messages.flatMap((m) => m.toolCalls ?? []);
const argumentsOf = (run, name) => JSON.parse(callsOf(run.messages).findLast((call) => call.function.name === name).function.arguments);
const answered = (run) => { succeeded(run); assert.notEqual(textOf(run), ""); };
const succeeded = (run) => assert.equal(run.events.at(-1).outcome?.type ?? "success", "success");
const browserCall = ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "RUN_FINISHED"];

/** The announced events of a run, without the server's own vendor-prefixed notes. */
const wireOutline = (run) => outline({ events: run.events.filter((e) => !(e.type === "CUSTOM" && e.name.includes("."))) });

function asksBrowser(run, name) {
  const types = wireOutline(run).filter((type) => type !== "MESSAGES_SNAPSHOT" && type !== "STATE_SNAPSHOT");
  assert.deepEqual(types, browserCall);
  assert.equal(run.events.find((e) => e.type === "TOOL_CALL_START").toolCallName, name);
  assert.deepEqual(run.open, [name]);
}

export const CONVERSATIONS = [
  {
    name: "chat",
    agent: "agentic_chat",
    tools: [changeBackground],
    context: [{ description: "Name of the user", value: "Bob" }],
    turns: [{
      say: "Hey there",
      check(run) {
        assert.deepEqual(outline(run), ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
        assert.match(textOf(run), /counting down:\s*10\s+9\s+8\s+7\s+6\s+5\s+4\s+3\s+2\s+1\s+✓/);
      },
    }],
  },
  {
    name: "a browser tool",
    agent: "agentic_chat",
    tools: [changeBackground],
    turns: [
      { say: "tool", check(run) { asksBrowser(run, "change_background"); assert.notEqual(argumentsOf(run, "change_background").background, ""); } },
      { answer: { status: "success", message: "Background changed" }, check(run) { answered(run); assert.deepEqual(run.open, []); } },
    ],
  },
  {
    name: "a server tool",
    agent: "backend_tool_rendering",
    turns: [{
      say: "What's the weather like in San Francisco?",
      check(run) {
        answered(run);
        const call = callsOf(run.messages).find((c) => c.function.name === "get_weather");
        const result = JSON.parse(run.messages.find((m) => m.role === "tool" && m.toolCallId === call.id).content);
        assert.equal(typeof result.temperature, "number");
        assert.equal(typeof result.conditions, "string");
      },
    }],
  },
  {
    name: "a person in the loop",
    agent: "human_in_the_loop",
    tools: [tool("generate_task_steps", { steps: { type: "array" } })],
    turns: [
      {
        say: "Hi",
        check(run) {
          asksBrowser(run, "generate_task_steps");
          const { steps } = argumentsOf(run, "generate_task_steps");
          assert.ok(steps.some((s) => s.description && s.status === "enabled"), JSON.stringify(steps));
        },
      },
      { answer: { accepted: true, steps: [{ description: "Step 1", status: "enabled" }] }, check: answered },
    ],
  },
  {
    name: "steps as generated interface",
    agent: "agentic_generative_ui",
    turns: [{
      say: "Please build a plan to go to mars in 5 steps.",
      check(run) {
        succeeded(run);
        const states = run.events.filter((e) => e.type.startsWith("STATE_"));
        assert.equal(states[0].type, "STATE_SNAPSHOT");
        assert.ok(states[0].snapshot.steps.some((s) => s.status === "pending"), "the plan does not open with pending steps");
        assert.equal(states[1].type, "STATE_DELTA");
        assert.ok(run.state.steps.some((s) => s.status === "completed"), "no step was completed");
      },
    }],
  },
  {
    name: "a shared recipe",
    agent: "shared_state",
    state: { recipe: RECIPE },
    turns: [{
      say: "Give me all the ingredients",
      check(run) {
        succeeded(run);
        assert.ok(run.events.some((e) => e.type === "STATE_SNAPSHOT"));
        const { recipe } = run.state;
        assert.ok(["Beginner", "Intermediate", "Advanced"].includes(recipe.skill_level));
        assert.ok(["5 min", "15 min", "30 min", "45 min", "60+ min"].includes(recipe.cooking_time));
        assert.ok(recipe.ingredients.some((i) => i.name === "Salt" && typeof i.amount === "string" && typeof i.icon === "string"));
        assert.ok(Array.isArray(recipe.instructions));
      },
    }],
  },
  {
    name: "a document that is predicted",
    agent: "predictive_state_updates",
    turns: [
      {
        say: "Write a story",
        check(run) {
          const [announced] = run.events.filter((e) => e.type === "CUSTOM" && e.name === "PredictState");
          assert.equal(announced.value[0].state_key, "document");
          assert.equal(announced.value[0].tool_argument, "document");
          const started = run.events.filter((e) => e.type === "TOOL_CALL_START").map((e) => e.toolCallName);
          assert.deepEqual(started, [announced.value[0].tool, "confirm_changes"]);
        },
      },
      { answer: { accepted: true }, check: answered },
    ],
  },
  {
    name: "a haiku as generated interface",
    agent: "tool_based_generative_ui",
    tools: [tool("generate_haiku", { japanese: { type: "array" }, english: { type: "array" }, image_name: { type: "string" }, gradient: { type: "string" } })],
    turns: [{
      say: 'Generate Haiku for "I will always win"',
      check(run) {
        const haiku = argumentsOf(run, "generate_haiku");
        assert.equal(haiku.japanese.length, 3);
        assert.equal(haiku.english.length, 3);
      },
    }],
  },
];
