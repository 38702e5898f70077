/** The WebAssembly module: the place to fetch it from, or its bytes. */
export type ModuleSource =
  | URL
  | string
  | Request
  | Response
  | Promise<Response>
  | BufferSource
  | WebAssembly.Module;

/**
 * Loads the WebAssembly module. Await it once, before any other call. Without a source, it fetches
 * `module/snapshots_bg.wasm` from the folder of this file.
 */
export function load(source?: ModuleSource): Promise<void>;

/** The size of the module's memory, which all receivers and senders share. It never shrinks. */
export function memoryBytes(): number;

/**
 * `packed` takes the least time, and `learning` the fewest bits. Client and server need the same
 * level.
 */
export type Level = "packed" | "adaptive" | "learning";

/** The numbers of one field, entity by entity. */
export type Column =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Uint8Array;

/** The contents of a schema file. */
export interface Schema {
  /** The schema's hash in 16 hexadecimal digits, equal to `Schema::hash` in Rust. */
  readonly hash: string;
  /** The kinds of entities, at least one. */
  readonly kinds: readonly Kind[];
}

/** A kind of entities. */
export interface Kind {
  /** The kind's name. It is empty if the schema has only one kind. */
  readonly name: string;
  /** The hash of the kind's fields, in 16 hexadecimal digits. */
  readonly hash: string;
  readonly fields: readonly Field[];
}

/** A field of a kind. */
export interface Field {
  readonly name: string;
  readonly what: "floats" | "rotation" | "integer" | "bool" | "choice" | "bytes" | "raw";
  /** The type of the field's column. Numbers with more than 2^24 steps are `f64`. */
  readonly type: "f32" | "f64" | "i32" | "u32" | "i64" | "u64" | "u8";
  /**
   * The number of column values for each entity: 3 for a position, 4 for a rotation (x, y, z, w).
   */
  readonly size: number;
  /** The number of integers that represent the field in a snapshot. */
  readonly lanes: number;
  /** The role of the field in motion, such as the position or rotation of a body. */
  readonly role?: "velocity" | "body" | "touched" | "mover" | "clock" | "cut" | "frame";
  /** The name of the field whose velocity this field is. */
  readonly velocityOf?: string;
  /**
   * The condition under which the field is present: another field has a value from `least` to
   * `most`.
   */
  readonly presentIf?: { readonly field: string; readonly least: number; readonly most: number };
  /**
   * Whether the field is coarser in some entities: by as many bits as another field has, but at
   * most by `mostBits`.
   */
  readonly coarser?: { readonly field: string; readonly mostBits: number };
  /** The name of the field with the id of the entity that this field is relative to. */
  readonly frame?: string;
}

/**
 * Reads a schema file that `Schema::to_bytes` wrote in Rust. Throws if the bytes are not a schema
 * file.
 */
export function describeSchema(bytes: Uint8Array): Schema;

/** The parameters of a codec. Both sides need the same parameters. */
export interface CodecOptions {
  /** The schema file of the server's world. */
  schema: Uint8Array;
  /** The server's level; `adaptive` by default. */
  level?: Level;
  /** The server's profile file, if it has one. */
  profile?: Uint8Array;
}

export interface ReceiverOptions extends CodecOptions {
  /** The server's ticks per second. */
  tickHz: number;
  /** The codec of the events that the server sends. */
  events?: CodecOptions;
  /** The channel of the hub, which distinguishes hubs on one connection; 0 by default. */
  channel?: number;
  /** The maximum memory for states, in bytes; 128 MiB by default. */
  maxMemoryBytes?: number;
  /** The shortest and the longest playout delay, in milliseconds. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/**
 * Receives one world. Pass each datagram to the receiver, send the datagrams that it returns, and
 * draw the frames that it plays.
 *
 * All times are those of `performance.now()`. Pass other times only in tests.
 */
export class Receiver {
  /** Throws if a schema, profile or setting is not valid. */
  constructor(options: ReceiverOptions);

  readonly schema: Schema;
  /** The schema of the events. Undefined if there are no events. */
  readonly eventSchema?: Schema;

  /**
   * Takes a datagram. Throws if the receiver refuses the datagram, for example as a duplicate. Then
   * only counters have changed, so a page may ignore the error.
   */
  handle(datagram: Uint8Array, nowMs?: number): "state" | "events" | "fragment" | "block";

  /**
   * The next datagram for the server. Undefined if there is none now. Call this until it returns
   * undefined.
   */
  transmit(nowMs?: number): Uint8Array | undefined;

  /**
   * The world to draw now, a little in the past and interpolated. Undefined before the first state.
   * Its arrays are views of the module's memory: they are valid until the next call of any function
   * of this package. Use `slice()` to keep an array.
   */
  play(nowMs?: number): Frame | undefined;

  /**
   * The newest state, neither delayed nor interpolated, with arrays like those of `play`. The
   * velocities of `Entities.places` come from fields alone.
   */
  newest(): Frame | undefined;

  /**
   * The integers of the newest state, for tests that compare it with the server's state. For each
   * kind they are the number of entities, the ids, the tick of each entity's newest values, and
   * each lane in turn.
   */
  newestLanes(): Uint32Array;

  /** Changes the shortest and the longest playout delay. */
  setDelays(minMs: number, maxMs: number): void;

  /**
   * What the last `play` showed, as the values of the field `name` of an input: a field of the type
   * `Option<Seen>` in Rust. Send it with the input, so that a server that rewinds finds exactly what
   * the player saw: `inputs.push({ fires, ...receiver.seen() })`. A stamp takes one to four bytes.
   */
  seen(name?: string): Record<string, number | boolean | Uint32Array>;

  /**
   * Sets for how long the entities of a kind continue straight on if their next state is late, 0 to
   * 1,000 ms. With 0, as at first, they stand still. A server that rewinds has to know the choice.
   */
  extrapolate(kind: string, atMostMs: number): void;

  /**
   * Why the server refuses this receiver, for example because of another schema, level, profile or
   * version.
   */
  readonly mismatch: string | undefined;

  stats(nowMs?: number): ReceiverStats;

  /** Frees the memory immediately, before the object is collected. */
  free(): void;
}

/** A moment of the world. */
export interface Frame {
  /** The moment, as a tick with its fraction. */
  readonly tick: number;
  /** Whether no newer state had arrived when one was needed. */
  readonly starved: boolean;
  /**
   * The ids that the previous `play` did not have, and the ids that only the previous `play` had.
   */
  readonly added: Uint32Array;
  readonly removed: Uint32Array;
  /**
   * The ids that jumped since the previous `play`: a field that marks cuts, such as a counter of
   * teleports, has another value. The first frame after a jump has the id, and no other frame.
   * None of these ids is in `added`.
   */
  readonly cut: Uint32Array;
  /** The entities of each kind, in the order of the schema. */
  readonly kinds: readonly Entities[];
  /** The events after the previous `play`, up to this one, in order. */
  readonly events: readonly Event[];
  /** The entities of one kind. Throws if there is no such kind. */
  kind(name: string): Entities;
}

/** The entities of one kind. */
export interface Entities {
  readonly name: string;
  readonly count: number;
  /** The ids, in increasing order. */
  readonly ids: Uint32Array;
  /** The numbers of each field, by its name. If a field is absent, its numbers are 0. */
  readonly fields: Readonly<Record<string, Column>>;
  /**
   * Where the entities are in the world. Undefined if no field of the kind is relative to another
   * entity (`Field.frame`), because `fields` are in the world then.
   */
  readonly places: Places | undefined;
  /** The index of the entity with the id `id`; −1 if there is no such entity. */
  indexOf(id: number): number;
}

/**
 * Where entities are in the world, such as passengers on a ship, and how they move. All numbers of
 * an entity are NaN while this is not known, for example because the ship has not arrived. Draw
 * nothing then.
 */
export interface Places {
  /** Three numbers for each entity, in the unit of its field. */
  readonly position: Float64Array;
  /** Four numbers for each entity: a unit quaternion x, y, z, w. */
  readonly rotation: Float64Array;
  /** Three numbers for each entity, in units per second, with the motion of what carries it. */
  readonly velocity: Float64Array;
}

/** An event, such as a hit. */
export interface Event {
  readonly kind: string;
  readonly tick: number;
  /** Whether an earlier frame had already shown the event's tick. */
  readonly late: boolean;
  readonly values: Readonly<Record<string, number | bigint | (number | bigint)[]>>;
}

/** Counters since the start, and measurements. */
export interface ReceiverStats {
  /** Whether a state has arrived. */
  readonly joined: boolean;
  readonly roundTripMs: number | undefined;
  /** The share of the server's datagrams that were lost, from 0 to 1. */
  readonly lostRatio: number;
  /** The tick that the server simulates now. */
  readonly serverTick: number | undefined;
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly starvedRatio: number;
  readonly received: number;
  readonly refused: number;
  readonly duplicates: number;
  readonly bytes: number;
  readonly late: number;
  readonly blocks: number;
  /**
   * How many state checks found a state that differs from the server's. After each, the receiver
   * starts again.
   */
  readonly mismatches: number;
  readonly views: number;
  readonly events: number;
  readonly lateEvents: number;
  /** The progress of a large first state that is still incomplete. */
  readonly block: { readonly fragments: number; readonly of: number } | undefined;
}

/** Splits a received datagram into its parts. */
export function splitDatagram(datagram: Uint8Array): DatagramPart[];

export interface DatagramPart {
  /**
   * The endpoint of the part: `receiver` is for `Receiver.handle`, `stream-sender` for
   * `InputSender.handle`.
   */
  readonly for: "hub" | "receiver" | "stream-receiver" | "stream-sender";
  readonly channel: number;
  readonly bytes: Uint8Array;
}

export interface InputOptions {
  /** The schema file of the inputs. */
  schema: Uint8Array;
  /** The level of the stream; `packed` by default. */
  level?: "packed" | "adaptive";
  /** The maximum number of inputs per second. */
  rateHz: number;
  /** The longest round trip without extra cost, in milliseconds; 500 by default. */
  longestRoundTripMs?: number;
  /** How many earlier inputs each packet repeats; 1 by default. */
  repeats?: number;
  channel?: number;
  datagramBytes?: number;
}

/** Sends inputs to a server. */
export class InputSender {
  constructor(options: InputOptions);
  readonly schema: Schema;
  /**
   * Adds an input, and returns its number. Throws if a field is missing, not a number or out of its
   * range; then nothing has changed.
   */
  push(values: Record<string, number | bigint | boolean | ArrayLike<number | bigint>>): number;
  /**
   * Adds the input of a tick of the server, as an `InputClock` asks for it, and returns its number:
   * the tick modulo 2^16. The server must read inputs by ticks. Push the inputs in the order of
   * their ticks. An input that is not after the newest one begins the stream anew.
   */
  pushForTick(
    tick: number,
    values: Record<string, number | bigint | boolean | ArrayLike<number | bigint>>,
  ): number;
  /**
   * Adds an input whose integers are known, such as those of a `FigureSender`, and returns its
   * number. Throws if there are too few or too many, or one is out of its range; then nothing has
   * changed.
   */
  pushLanes(lanes: Uint32Array): number;
  /** As `pushLanes`, for the input of a tick of the server. */
  pushLanesForTick(tick: number, lanes: Uint32Array): number;
  /** The packet of the newest inputs. Each packet is returned once. */
  transmit(): Uint8Array | undefined;
  /**
   * Takes an acknowledgement. A clock learns from it how early the inputs arrive. Throws if the
   * sender refuses it; then only a counter has changed.
   */
  handle(acknowledgement: Uint8Array, clock?: InputClock, nowMs?: number): void;
  stats(): {
    records: number;
    packets: number;
    bytes: number;
    full: number;
    acknowledged: number;
    refused: number;
  };
  free(): void;
}

/** The settings of an `InputClock`. The defaults are for the open Internet. */
export interface InputClockOptions {
  /** The server's ticks per second. */
  tickHz: number;
  /** The share of inputs that should arrive in time; 0.998 by default. */
  inTimeRatio?: number;
  /**
   * How early the latest of these inputs should arrive, in milliseconds; 2 by default. It is for
   * the server's own delays, for example if it reads its socket only once in each tick.
   */
  marginMs?: number;
  /** How much faster or slower the clock may run; 0.05 by default. */
  slewRatio?: number;
  /** If inputs are later than they should be by more than this, the clock jumps; 70 by default. */
  jumpForwardMs?: number;
  /**
   * If inputs are earlier than they should be by more than this, the clock jumps back, and stands
   * still for this time; 500 by default.
   */
  jumpBackMs?: number;
  /** How long a late input is remembered, in milliseconds; 10000 by default. */
  windowMs?: number;
  /**
   * The longest time between two calls of `ticks` after which inputs count, in milliseconds; 100 by
   * default.
   */
  longestFrameMs?: number;
}

/**
 * The clock of a page that simulates its own inputs ahead of the server. It says which ticks to
 * simulate now, so that the inputs arrive just before the server simulates the same ticks.
 *
 * All times are those of `performance.now()`. Pass other times only in tests.
 */
export class InputClock {
  /** Makes a clock that waits for its start. Throws if a setting is not valid. */
  constructor(options: InputClockOptions);

  /**
   * Starts the clock from what a receiver of the same server knows. Returns false, and does
   * nothing, as long as the receiver does not know the server's tick. Call this until `isStarted`,
   * and again after a reconnection, which forgets what the clock learned.
   */
  startFrom(receiver: Receiver, nowMs?: number): boolean;

  /**
   * Starts the clock at a tick, which may have a fraction. It should be the server's tick when an
   * input that is sent now arrives, plus one or two.
   */
  start(tick: number, nowMs?: number): void;

  readonly isStarted: boolean;

  /**
   * The ticks to simulate now: `count` ticks from `first` on, at most 16. Push an input for each.
   * If more became due, for example because the page was hidden, the earlier ones are skipped. No
   * tick is returned twice. The count is 0 before the start.
   */
  ticks(nowMs?: number): { first: number; count: number };

  /** The tick at the last call of `ticks`, with its fraction. */
  readonly tick: number;

  stats(): InputClockStats;

  /** Frees the memory immediately, before the object is collected. */
  free(): void;
}

/** Counters since the clock was made, and measurements. */
export interface InputClockStats {
  /** The number of ticks that the clock returned. */
  readonly ticks: number;
  /** The number of ticks that it skipped, because they were too many to simulate at once. */
  readonly skipped: number;
  /** How many times it jumped, instead of running faster or slower. */
  readonly jumps: number;
  /** The number of reports from the server that it learned from. */
  readonly reports: number;
  /** How early the input of the last report arrived, in ticks. Negative if it was late. */
  readonly earlyTicks: number;
  /** How far the clock is from the lead that it needs. Positive if it runs faster to get there. */
  readonly errorMs: number;
}
