// Strict readers of the two AG-UI bindings. They report everything the binding forbids, where the
// official clients read on.
import { decode } from "@ag-ui/proto";
import { PROTO } from "./http.mjs";

/** Reads a body by its media type. Returns `{ events, ids, problems }`. */
export function read(body, type) {
  return type === PROTO ? readProtobuf(body) : readSse(body);
}

function readSse(body) {
  const stream = { events: [], ids: [], problems: [] };
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    stream.problems.push("the body is not valid UTF-8");
    return stream;
  }
  if (text.startsWith("\ufeff")) stream.problems.push("the body starts with a byte order mark");
  if (text.includes("\r")) stream.problems.push("a CR was seen: the binding frames with LF alone");
  const frames = text.split("\n\n");
  const rest = frames.pop();
  if (rest !== "") stream.problems.push(`the body ends inside a frame: ${JSON.stringify(rest.slice(0, 80))}`);
  for (const frame of frames) readFrame(frame, stream);
  return stream;
}

function readFrame(frame, { events, ids, problems }) {
  const data = [];
  let id;
  for (const line of frame.split("\n")) {
    if (line.startsWith(":")) continue;
    const [, field, value] = /^([^:]*)(?::\x20?(.*))?$/s.exec(line);
    if (field === "data") data.push(value ?? "");
    else if (field === "id") id = value;
    else if (field !== "event" && field !== "retry") problems.push(`unknown field ${JSON.stringify(field)} in a frame`);
  }
  if (data.length === 0) return;
  if (data.length > 1) problems.push("an event is spread over several data lines");
  try {
    const event = JSON.parse(data.join("\n"));
    if (typeof event?.type !== "string") throw new Error("no type");
    events.push(event);
    ids.push(id);
  } catch (error) {
    problems.push(`a frame holds no event (${error.message}): ${data.join("\n").slice(0, 80)}`);
  }
}

/** Frames of a big-endian length and as many bytes of one encoded event. */
function readProtobuf(body) {
  const stream = { events: [], ids: [], problems: [] };
  let at = 0;
  while (at < body.length) {
    const length = body.length - at >= 4 ? body.readUInt32BE(at) : Infinity;
    if (at + 4 + length > body.length) {
      stream.problems.push(`the body ends inside the frame at byte ${at}`);
      break;
    }
    try {
      stream.events.push(decode(new Uint8Array(body.subarray(at + 4, at + 4 + length))));
    } catch (error) {
      stream.problems.push(`the frame at byte ${at} does not decode: ${error.message}`);
    }
    at += 4 + length;
  }
  return stream;
}
