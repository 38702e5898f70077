// Checks the program's messages once, so that the rest of the page can trust them. A message that
// does not fit is ignored with a warning, because the page must survive a program of another version.

const WORLD_HEAD_BYTES = 20;
const DATAGRAMS_HEAD_BYTES = 32;
const DATAGRAM_HEAD_BYTES = 12;
/** x, y, z, orientation x, y, z, w, mark. */
export const BODY_WORDS = 8;
const BODIES_MAX = 1 << 20;
const SAMPLE_FIELDS = [
  "tick", "headers_kbps", "sets_kbps", "position_kbps", "orientation_kbps", "others_kbps",
  "input_bits", "input_kbps", "queue_ms",
];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumbers = (value) => Array.isArray(value) && value.every(Number.isFinite);
const isNamed = (value) => Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && typeof item.name === "string");
const isSample = (sample) => isObject(sample) && SAMPLE_FIELDS.every((name) => Number.isFinite(sample[name]))
  && (sample.budget_kbps === null || Number.isFinite(sample.budget_kbps));
const has = (object, type, ...names) => names.every((name) => typeof object[name] === type);
/** The input part of a report. It is missing until somebody plays. */
const isInput = (input) => input === undefined
  || (isObject(input) && has(input, "number", "recovered", "lost") && isObject(input.bits_per_packet) && has(input.bits_per_packet, "number", "mean", "full"));

const CHECKS = {
  hello: (hello) => isObject(hello)
    && has(hello, "string", "program", "world")
    && has(hello, "number", "bodies", "tick_hz", "half_width_m", "player_edge_m", "cube_edge_m", "goal_kbps", "uncompressed_kbps")
    && Array.isArray(hello.lanes) && hello.lanes.every((lane) => typeof lane === "string")
    && isNamed(hello.levels) && isNamed(hello.links) && isNumbers(hello.send_hz)
    && isObject(hello.defaults) && has(hello.defaults, "string", "link", "level")
    && has(hello, "string", "schema") && isObject(hello.events) && has(hello.events, "string", "schema", "level"),
  status: (status) => isObject(status) && isObject(status.settings) && isObject(status.report) && isInput(status.report.input)
    && has(status, "boolean", "paused", "has_control") && Number.isFinite(status.tick)
    && has(status.settings, "string", "link", "level") && has(status.settings, "number", "send_hz")
    && Array.isArray(status.samples) && Array.isArray(status.packets),
  look: (look) => isObject(look) && isNumbers(look.sent) && has(look, "number", "id"),
  error: (error) => typeof error === "string",
  end: (end) => isObject(end) && isObject(end.report),
};

/** `{kind, value}` of a text message, or null if it is invalid. */
export function parseText(text) {
  let message = null;
  try {
    message = JSON.parse(text);
  } catch {
    // Falls through to the warning below.
  }
  const kind = isObject(message) ? Object.keys(message)[0] : undefined;
  if (!Object.hasOwn(CHECKS, kind ?? "") || !CHECKS[kind](message[kind])) {
    console.warn(`left out a message of the program: ${String(text).slice(0, 120)}`);
    return null;
  }
  const value = message[kind];
  if (kind === "status") {
    value.samples = value.samples.filter(isSample);
    value.packets = value.packets.filter((packet) => isNumbers(packet) && packet.length >= 3);
  }
  return { kind, value };
}

/**
 * `{kind, value}` of a binary message, or null if it is invalid. A world's bodies and the datagrams are
 * views of the same bytes.
 */
export function parseBinary(buffer) {
  const message = new DataView(buffer);
  const kind = buffer.byteLength >= WORLD_HEAD_BYTES ? message.getUint32(0, true) : 0;
  const value = kind === 1 ? parseWorld(message) : kind === 2 ? parseDatagrams(message) : null;
  if (value) return { kind: kind === 1 ? "world" : "datagrams", value };
  console.warn(`left out a binary message of ${buffer.byteLength} bytes`);
  return null;
}

function parseWorld(message) {
  const [number, count] = [4, 8].map((at) => message.getUint32(at, true));
  const fits = count <= BODIES_MAX && message.byteLength === WORLD_HEAD_BYTES + count * BODY_WORDS * 4;
  return fits ? { number, tick: message.getFloat64(12, true), sent: new Float32Array(message.buffer, WORLD_HEAD_BYTES, count * BODY_WORDS) } : null;
}

function parseDatagrams(message) {
  if (message.byteLength < DATAGRAMS_HEAD_BYTES) return null;
  const [connection, row, count] = [4, 8, 12].map((at) => message.getUint32(at, true));
  const delays = [16, 20].map((at) => message.getFloat32(at, true));
  const datagrams = [];
  let at = DATAGRAMS_HEAD_BYTES;
  while (datagrams.length < count) {
    if (at + DATAGRAM_HEAD_BYTES > message.byteLength) return null;
    const length = message.getUint32(at + 8, true);
    const begin = at + DATAGRAM_HEAD_BYTES;
    if (length > message.byteLength - begin) return null;
    datagrams.push([message.getFloat64(at, true), new Uint8Array(message.buffer, begin, length)]);
    at = begin + length;
  }
  return at === message.byteLength ? { connection, row, delays, time_s: message.getFloat64(24, true), datagrams } : null;
}
