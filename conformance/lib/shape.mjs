// Shape of single events: the generated 1.0 schema, and beyond it what the schema lets pass.
import { EventSchema } from "@ag-ui/core/schemas";

const SCHEMAS = new Map(EventSchema.options.map((option) => [option.shape.type.def.values[0], option]));
const RUN_SCOPED = new Set(["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"]);

/** What is wrong with the events one by one, as `rule: event N TYPE: why`. */
export function shapeFaults(events) {
  return events.flatMap((event, index) => eventFaults(event).map(([rule, why]) => `${rule}: event ${index} ${event.type}: ${why}`));
}

function eventFaults(event) {
  const schema = SCHEMAS.get(event.type);
  if (!schema) return [["event-type", "not an AG-UI 1.0 event"]];
  const found = [];
  const parsed = schema.safeParse(event);
  for (const issue of parsed.error?.issues ?? []) found.push(["schema", `/${issue.path.join("/")} ${issue.message}`]);
  walk(schema, event, "", found);
  if (RUN_SCOPED.has(event.type) && "subagentRunId" in event) found.push(["attribution", "a run-scoped event carries no subagentRunId"]);
  return found;
}

/** The schema accepts extra members and, for a while, null for an optional one; a 1.0 producer sends neither. */
function walk(schema, value, path, found) {
  const { type, ...definition } = schema.def;
  if (type === "optional" || type === "default") {
    if (value === null) found.push(["null-optional", `${path} is null; an absent member is left out`]);
    else if (value !== undefined) walk(definition.innerType, value, path, found);
  } else if (type === "nullable" || type === "readonly") {
    if (value !== null) walk(definition.innerType, value, path, found);
  } else if (type === "pipe") {
    walk(definition.in, value, path, found);
  } else if (type === "array" && Array.isArray(value)) {
    value.forEach((element, index) => walk(definition.element, element, `${path}/${index}`, found));
  } else if (type === "union") {
    walkUnion(definition, value, path, found);
  } else if (type === "object" && value !== null && typeof value === "object") {
    walkObject(schema, value, path, found);
  }
}

function walkObject(schema, value, path, found) {
  const open = schema.meta?.()?.specOpen === true;
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(schema.def.shape, name);
    if (known) walk(schema.def.shape[name], member, `${path}/${name}`, found);
    else if (!open) found.push(["unknown-member", `${path}/${name}`]);
  }
}

function walkUnion({ discriminator, options }, value, path, found) {
  const kind = Array.isArray(value) ? "array" : typeof value;
  const option = discriminator
    ? options.find((o) => o.def.shape?.[discriminator]?.def.values?.[0] === value?.[discriminator])
    : options.find((o) => o.def.type === kind);
  if (option) walk(option, value, path, found);
  else if (discriminator) found.push(["unknown-variant", `${path} has ${discriminator} ${JSON.stringify(value?.[discriminator])}`]);
}
