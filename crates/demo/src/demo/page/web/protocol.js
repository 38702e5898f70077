// Checks the program's messages once, so that the rest of the page can trust them. A message that
// does not fit is ignored with a warning, because the page must survive a program of another version.

const HEADER_BYTES = 24;
/** x, y, z, orientation x, y, z, w, mark. */
export const BODY_WORDS = 8;
const BODIES_MAX = 1 << 20;
const SAMPLE_FIELDS = [
  "tick", "headers_kbps", "sets_kbps", "position_kbps", "orientation_kbps", "others_kbps",
  "error_mm_p50", "error_mm_max", "error_deg_p50", "error_deg_max", "playout_ms", "round_trip_ms",
  "input_bits", "input_kbps",
];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumbers = (value) => Array.isArray(value) && value.every(Number.isFinite);
const isNamed = (value) => Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && typeof item.name === "string");
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
    && isObject(hello.defaults) && has(hello.defaults, "string", "link", "level"),
  status: (status) => isObject(status) && isObject(status.settings) && isObject(status.report) && isInput(status.report.input)
    && has(status, "boolean", "paused", "has_hands") && Number.isFinite(status.tick)
    && has(status.settings, "string", "link", "level") && has(status.settings, "number", "send_hz")
    && Array.isArray(status.samples) && Array.isArray(status.packets),
  look: (look) => isObject(look) && isNumbers(look.sent)
    && has(look, "number", "id", "tick", "bits", "packet_bits")
    && (look.known == null || isNumbers(look.known)) && (look.baseline == null || isNumbers(look.baseline)),
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
    value.samples = value.samples.filter((sample) => isObject(sample) && SAMPLE_FIELDS.every((name) => Number.isFinite(sample[name])));
    value.packets = value.packets.filter((packet) => isNumbers(packet) && packet.length >= 3);
  }
  return { kind, value };
}

/** Reads a world from a binary message, or returns null if it is invalid. The bodies are views of the same bytes. */
export function parseWorld(buffer) {
  if (buffer.byteLength >= HEADER_BYTES) {
    const view = new DataView(buffer);
    const [kind, number, tick, sentCount, shownCount] = [0, 4, 8, 12, 16].map((at) => view.getUint32(at, true));
    const fits = sentCount <= BODIES_MAX && shownCount <= BODIES_MAX
      && buffer.byteLength === HEADER_BYTES + (sentCount + shownCount) * BODY_WORDS * 4;
    if (kind === 1 && fits) {
      const sent = new Float32Array(buffer, HEADER_BYTES, sentCount * BODY_WORDS);
      const shown = new Float32Array(buffer, HEADER_BYTES + sent.byteLength, shownCount * BODY_WORDS);
      return { number, tick, shownTick: view.getFloat32(20, true), sent, shown };
    }
  }
  console.warn(`left out a binary message of ${buffer.byteLength} bytes`);
  return null;
}
