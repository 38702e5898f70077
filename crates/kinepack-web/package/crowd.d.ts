import type { Frame, ModuleSource, Schema } from "./snapshots.js";

/**
 * Loads the WebAssembly module. Await it once, before any other call. Without a source, it fetches
 * `module/crowd_bg.wasm` from the folder of this file.
 */
export function load(source?: ModuleSource): Promise<void>;

/** The size of the module's memory, which all viewers share. It never shrinks. */
export function memoryBytes(): number;

export interface ViewerOptions {
  /** How many seconds of past states are kept for rewinding; 0 by default. */
  historyS?: number;
  /** The maximum memory for states, in bytes; 256 MiB by default. */
  maxMemoryBytes?: number;
  /** The shortest and the longest playout delay, in milliseconds. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/**
 * Shows one world that many viewers watch, over any transport. `spec/CROWD.md` defines what the
 * transport must carry. `Watching` connects a viewer to Media over QUIC.
 *
 * All times are those of `performance.now()`. Pass other times only in tests.
 */
export class Viewer {
  /**
   * Throws if the bytes are not a catalogue, or if the bounds of the delay contradict each other.
   */
  constructor(catalogue: Uint8Array, options?: ViewerOptions);

  readonly schema: Schema;
  /** The number of ticks per second. */
  readonly tickHz: number;
  /** The names of the tiers. */
  readonly tiers: readonly string[];
  /** The names of the tiers that are shown. Empty before the first `watch`. */
  readonly shownTiers: string[];

  /**
   * Watches a tier from now on, or several together, such as regions of the world. The previous
   * tiers are shown until the new ones have caught up. Tiers that were shown before continue
   * without a break. Throws if there is no such tier.
   */
  watch(...tiers: string[]): void;

  /** The names of the tracks that the viewer needs now. */
  wanted(): string[];

  /**
   * Takes an object, given by its track, its group, and its number in the group. Returns true if a
   * snapshot could be read with it. Throws if the viewer refuses the object; then only counters
   * have changed.
   */
  object(
    track: string, group: number | bigint, number: number | bigint, bytes: Uint8Array,
    nowMs?: number,
  ): boolean;

  /** Takes a datagram of a track, and throws like `object`. */
  datagram(track: string, bytes: Uint8Array, nowMs?: number): boolean;

  /**
   * Reads all tracks anew, for example after a connection was lost. The shown state does not
   * change.
   */
  rejoin(): void;

  /**
   * The world to draw now, a little in the past and interpolated. Undefined before the first state.
   * Its arrays are views of the module's memory: they are valid until the next call of any function
   * of this file. Use `slice()` to keep an array. The frame has no events.
   */
  play(nowMs?: number): Frame | undefined;

  /**
   * The world at a tick of the history, to pause and to rewind. Live playback continues meanwhile.
   */
  playAt(tick: number, nowMs?: number): Frame | undefined;

  /** The first and the last tick of the history. Undefined if there is no history. */
  history(): { readonly first: number; readonly last: number } | undefined;

  /**
   * The newest state, neither delayed nor interpolated, with arrays like those of `play`. The
   * velocities of `Entities.places` come from fields alone.
   */
  newest(): Frame | undefined;

  /**
   * The integers of the newest state, for tests that compare it with the publisher's state. For
   * each kind they are the number of entities, the ids, and each lane in turn.
   */
  newestLanes(): Uint32Array;

  /** Changes the shortest and the longest playout delay. */
  setDelays(minMs: number, maxMs: number): void;

  stats(): ViewerStats;

  /** Frees the memory immediately, before the object is collected. */
  free(): void;
}

/** Counters since the start, and measurements. */
export interface ViewerStats {
  readonly snapshots: number;
  /** The number of snapshots that the viewer read only to catch up. */
  readonly caughtUp: number;
  /** The number of snapshots that were too late to be shown. */
  readonly late: number;
  readonly refused: number;
  /** The bytes of all objects and datagrams. */
  readonly bytes: number;
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly starvedRatio: number;
}

export interface WatchOptions extends ViewerOptions {
  /** The SHA-256 hash of the relay's certificate, if the relay signed it itself. */
  certificateHash?: BufferSource;
  /** The tiers to watch first; by default the first tier of the catalogue. */
  tiers?: string[];
  /**
   * The time limit for each attempt to connect, and then for the catalogue, in milliseconds; 10,000
   * by default.
   */
  patienceMs?: number;
  /** Called when the connection changes. */
  onLink?(link: Link): void;
}

/** The connection to a relay. */
export interface Link {
  readonly connected: boolean;
  /**
   * Why nothing arrives, such as the error of the last attempt. Undefined if there is no problem.
   */
  readonly reason: string | undefined;
}

/**
 * Watches a broadcast through a relay of Media over QUIC, such as `moq-relay`. It connects by
 * itself, and reconnects after the relay or the publisher was gone. It needs a browser with
 * WebTransport.
 */
export class Watching {
  /**
   * `address` is the relay's address, whose path ends with the broadcast's name. A token is added
   * as `?jwt=`.
   */
  constructor(address: string, options?: WatchOptions);

  readonly link: Link;

  /**
   * The viewer to draw. Undefined before the catalogue has arrived. If the broadcast has another
   * catalogue later, there is another viewer.
   */
  readonly viewer: Viewer | undefined;

  /** Watches other tiers. Throws if the broadcast does not have them. */
  watch(...tiers: string[]): void;

  /** The number of received bytes, without the headers of QUIC. */
  readonly receivedBytes: number;

  /**
   * The number of tracks, groups and datagrams that could not be read completely, such as late
   * groups.
   */
  readonly missed: number;

  /** The total time spent on decoding, in milliseconds. */
  readonly decodeMs: number;

  /** Ends the connection, and frees the viewer. */
  close(): void;
}
