// Snapshots and input streams. This file implements `snapshots.d.ts` with the WebAssembly module.

import { Frame, FrameReader, INNER } from "./frame.js";
import { Loaded, named } from "./memory.js";
import initialize, * as module from "./module/snapshots.js";

const RECEIVED = ["state", "events", "fragment", "block"];
const WHOM = ["hub", "receiver", "stream-receiver", "stream-sender"];
const NOTHING = new Uint8Array();
// A moment of a stamp has this many steps in a tick.
const STEPS_OF_MOMENT = 64;

const loaded = new Loaded(initialize, new URL("module/snapshots_bg.wasm", import.meta.url));

export const load = (source) => loaded.load(source);

export const memoryBytes = () => loaded.bytes;

export function describeSchema(bytes) {
  loaded.check();
  return JSON.parse(module.describe_schema(bytes));
}

export function splitDatagram(datagram) {
  loaded.check();
  const parts = [];
  let at = 0;
  const numbers = module.split_parts(datagram);
  for (let index = 0; index < numbers.length; index += 3) {
    const [whom, channel, length] = numbers.subarray(index, index + 3);
    parts.push({ for: WHOM[whom], channel, bytes: datagram.subarray(at, at + length) });
    at += length;
  }
  return parts;
}

export class Receiver {
  #receiver;
  #statNames;
  #reader;

  constructor(options) {
    loaded.check();
    const { schema, level = "adaptive", profile = NOTHING, tickHz, events } = options;
    const setup = new module.ReceiverSetup(schema, level, profile, tickHz);
    setup.limit(options.maxMemoryBytes, options.minDelayMs, options.maxDelayMs);
    if (options.channel) setup.on_channel(options.channel);
    if (events) {
      setup.with_events(events.schema, events.level ?? "adaptive", events.profile ?? NOTHING);
    }
    this.#receiver = setup.build();
    this.#statNames = this.#receiver.stat_names();
    this.schema = JSON.parse(this.#receiver.schema());
    this.eventSchema = events ? JSON.parse(this.#receiver.event_schema()) : undefined;
    this.#reader = new FrameReader(this.schema.kinds, this.eventSchema?.kinds);
  }

  handle(datagram, nowMs = performance.now()) {
    return RECEIVED[this.#receiver.handle(nowMs, datagram)];
  }

  transmit(nowMs = performance.now()) {
    return this.#receiver.poll_transmit(nowMs);
  }

  play(nowMs = performance.now()) {
    return this.#receiver.play(nowMs) ? this.#frame(false) : undefined;
  }

  newest() {
    return this.#receiver.take_newest() ? this.#frame(true) : undefined;
  }

  newestLanes() {
    return this.#receiver.newest_lanes();
  }

  setDelays(minMs, maxMs) {
    this.#receiver.set_delays(minMs, maxMs);
  }

  seen(name = "seen") {
    const stamp = this.#receiver.seen();
    if (!stamp) return { [`${name}?`]: false };
    const [moment, newest, fullState] = stamp;
    return {
      [`${name}?`]: true, [`${name}.moment`]: moment / STEPS_OF_MOMENT, [`${name}.newest`]: newest,
      [`${name}.full_state`]: fullState, [`${name}.missing`]: stamp.subarray(3),
    };
  }

  extrapolate(kind, atMostMs) {
    this.#receiver.extrapolate(kind, atMostMs);
  }

  get mismatch() {
    return this.#receiver.mismatch() || undefined;
  }

  stats(nowMs = performance.now()) {
    const { joined, roundTripMs, serverTick, fragments, fragmentsOfBlock, ...others } =
      named(this.#statNames, this.#receiver.stats(nowMs));
    const known = (number) => (Number.isNaN(number) ? undefined : number);
    return {
      ...others,
      joined: joined === 1,
      roundTripMs: known(roundTripMs),
      serverTick: known(serverTick),
      block: fragmentsOfBlock > 0 ? { fragments, of: fragmentsOfBlock } : undefined,
    };
  }

  [INNER]() {
    return { inner: this.#receiver, memory: loaded.memory };
  }

  free() {
    this.#receiver.free();
  }

  #frame(isNewest) {
    const address = this.#receiver.places();
    const [lists, columns] = this.#reader.read(loaded.memory, address, !isNewest);
    const kinds = columns.splice(0, this.schema.kinds.length);
    const events = this.#events(columns, lists.at(-1));
    const starved = !isNewest && this.#receiver.is_starved();
    return new Frame(this.#receiver.tick(), starved, lists, kinds, events);
  }

  // The events in their order, each with its numbers.
  #events(columns, list) {
    const next = columns.map(() => 0);
    const events = [];
    for (let at = 0; at < list.length; at += 3) {
      const [kind, tick, late] = list.subarray(at, at + 3);
      const index = next[kind]++;
      const { name, fields } = this.eventSchema.kinds[kind];
      const values = {};
      for (const field of fields) {
        const column = columns[kind].fields[field.name];
        const { size } = field;
        values[field.name] = size === 1
          ? column[index]
          : Array.from(column.subarray(index * size, (index + 1) * size));
      }
      events.push({ kind: name, tick, late: late === 1, values });
    }
    return events;
  }
}

export class InputSender {
  #sender;
  #statNames;
  #words;
  #floats;

  constructor(options) {
    loaded.check();
    const {
      schema, level = "packed", rateHz, longestRoundTripMs = 500, repeats = 1, channel = 0,
      datagramBytes = 1200,
    } = options;
    this.#sender = new module.InputSender(
      schema, level, rateHz, longestRoundTripMs, repeats, channel, datagramBytes,
    );
    this.#statNames = this.#sender.stat_names();
    this.schema = JSON.parse(this.#sender.schema());
    const count = this.schema.kinds[0].fields.reduce((sum, field) => sum + field.size, 0);
    this.#words = new BigInt64Array(count);
    this.#floats = new Float64Array(this.#words.buffer);
  }

  push(values) {
    return this.#sender.push(this.#wordsOf(values));
  }

  pushForTick(tick, values) {
    return this.#sender.push(this.#wordsOf(values), checked(tick));
  }

  // The raw words of an input's numbers.
  #wordsOf(values) {
    let at = 0;
    this.#words.fill(0n);
    for (const { name, size, what, presentIf } of this.schema.kinds[0].fields) {
      const value = values[name];
      if (value === undefined && presentIf) {
        at += size;
        // An absent rotation has no direction, so any valid rotation may be written.
        if (what === "rotation") this.#floats[at - 1] = 1;
        continue;
      }
      const numbers = size === 1 && value?.length === undefined ? [value] : value;
      if (numbers?.length !== size || Array.prototype.some.call(numbers, isNoNumber)) {
        throw new TypeError(`${name} must be ${size === 1 ? "a number" : `${size} numbers`}`);
      }
      for (const number of numbers) {
        if (what === "floats" || what === "rotation") this.#floats[at] = Number(number);
        else this.#words[at] = BigInt(number);
        at += 1;
      }
    }
    return new BigUint64Array(this.#words.buffer);
  }

  pushLanes(lanes) {
    return this.#sender.push_lanes(copied(lanes));
  }

  pushLanesForTick(tick, lanes) {
    return this.#sender.push_lanes(copied(lanes), checked(tick));
  }

  transmit() {
    return this.#sender.poll_transmit();
  }

  handle(acknowledgement, clock, nowMs = performance.now()) {
    if (clock === undefined) this.#sender.handle(acknowledgement);
    else this.#sender.handle_for(clock[INNER](), nowMs, acknowledgement);
  }

  stats() {
    return named(this.#statNames, this.#sender.stats());
  }

  free() {
    this.#sender.free();
  }
}

export class InputClock {
  #clock;
  #statNames;

  constructor(options) {
    loaded.check();
    const setup = new module.InputClockSetup(options.tickHz);
    setup.aim(options.inTimeRatio, options.marginMs);
    setup.correct(options.slewRatio, options.jumpForwardMs, options.jumpBackMs);
    setup.learn(options.windowMs, options.longestFrameMs);
    this.#clock = setup.build();
    this.#statNames = this.#clock.stat_names();
  }

  start(tick, nowMs = performance.now()) {
    this.#clock.start(nowMs, tick);
  }

  startFrom(receiver, nowMs = performance.now()) {
    return this.#clock.start_from(nowMs, receiver[INNER]().inner);
  }

  get isStarted() {
    return this.#clock.is_started();
  }

  ticks(nowMs = performance.now()) {
    const count = this.#clock.ticks(nowMs);
    return { first: this.#clock.first(), count };
  }

  get tick() {
    return this.#clock.tick();
  }

  stats() {
    return named(this.#statNames, this.#clock.stats());
  }

  [INNER]() {
    return this.#clock;
  }

  free() {
    this.#clock.free();
  }
}

// A copy has the length that the array truly has.
function copied(lanes) {
  if (!(lanes instanceof Uint32Array)) throw new TypeError("lanes must be a Uint32Array");
  return Uint32Array.prototype.slice.call(lanes);
}

// The module would round other numbers, or take them for no tick.
function checked(tick) {
  if (!Number.isInteger(tick) || tick < 0 || tick > 0xffffffff) {
    throw new TypeError("a tick must be an integer from 0 to 2^32 - 1");
  }
  return tick;
}

function isNoNumber(value) {
  return !["number", "bigint", "boolean"].includes(typeof value);
}
