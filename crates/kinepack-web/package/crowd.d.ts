import type { Frame, ModuleSource, Schema } from "./snapshots.js";

/**
 * Loads the module of WebAssembly. Await it once, before anything else. Without a source it fetches
 * `module/crowd_bg.wasm` next to this file.
 */
export function load(source?: ModuleSource): Promise<void>;

/** The memory of the module, which all viewers share. It never shrinks. */
export function memoryBytes(): number;

export interface ViewerOptions {
  /** How long states are kept to go back to, in seconds; 0 by default. */
  historyS?: number;
  /** The maximum memory for states, in bytes; 256 MiB by default. */
  maxMemoryBytes?: number;
  /** The bounds of the playout delay. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/**
 * Shows one world that many watch, over any transport: `spec/CROWD.md` defines what it must carry.
 * `Watching` connects it to Media over QUIC.
 *
 * All times are those of `performance.now()`; pass others only in tests.
 */
export class Viewer {
  /**
   * Throws for bytes that are not a catalogue, and for bounds of the delay that contradict each
   * other.
   */
  constructor(catalogue: Uint8Array, options?: ViewerOptions);

  readonly schema: Schema;
  /** Ticks per second. */
  readonly tickHz: number;
  /** The names of the tiers. */
  readonly tiers: readonly string[];
  /** The tiers that are shown; none before the first `watch`. */
  readonly shownTiers: string[];

  /**
   * Watches a tier from now on, or several together, such as regions of the world. The previous
   * tiers stay in view until the new ones have caught up. Tiers that were shown before continue
   * without a break. Throws if there is no such tier.
   */
  watch(...tiers: string[]): void;

  /** The names of the tracks that the viewer needs now. */
  wanted(): string[];

  /**
   * Takes an object: its track, its group, and its number in the group. True if a snapshot could be
   * read with it. Throws for an object that is refused; only counters have changed then.
   */
  object(
    track: string, group: number | bigint, number: number | bigint, bytes: Uint8Array,
    nowMs?: number,
  ): boolean;

  /** Takes a datagram of a track, and throws like `object`. */
  datagram(track: string, bytes: Uint8Array, nowMs?: number): boolean;

  /** Reads all tracks anew, as after a connection was lost. The shown state stays. */
  rejoin(): void;

  /**
   * The world to draw now, a little in the past and interpolated; undefined before the first state.
   * Its arrays are windows into the module's memory: they are valid until the next call of any
   * function of this file. Use `slice()` to keep one. It has no events.
   */
  play(nowMs?: number): Frame | undefined;

  /**
   * The world at a tick of the history, to pause and to go back. Live playback continues meanwhile.
   */
  playAt(tick: number, nowMs?: number): Frame | undefined;

  /** The first and the last tick of the history. */
  history(): { readonly first: number; readonly last: number } | undefined;

  /** The newest state, neither delayed nor interpolated, with arrays like those of `play`. */
  newest(): Frame | undefined;

  /**
   * The integers of the newest state, for tests that compare it with the publisher's: for each kind
   * the number of entities, their ids, and each lane in turn.
   */
  newestLanes(): Uint32Array;

  /** Changes the bounds of the playout delay. */
  setDelays(minMs: number, maxMs: number): void;

  stats(): ViewerStats;

  /** Frees the memory at once instead of when the object is collected. */
  free(): void;
}

/** Counters since the start, and measurements. */
export interface ViewerStats {
  readonly snapshots: number;
  /** Snapshots that were only read to catch up. */
  readonly caughtUp: number;
  /** Snapshots that were too late to be shown. */
  readonly late: number;
  readonly refused: number;
  /** Bytes of all objects and datagrams. */
  readonly bytes: number;
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly starvedRatio: number;
}

export interface WatchOptions extends ViewerOptions {
  /** The SHA-256 hash of the relay's certificate, if the relay signed it itself. */
  certificateHash?: BufferSource;
  /** The tiers to begin with; by default the first of the catalogue. */
  tiers?: string[];
  /** The time for each attempt to connect, and then for the catalogue; 10,000 by default. */
  patienceMs?: number;
  /** Called when the connection changes. */
  onLink?(link: Link): void;
}

/** The connection to a relay. */
export interface Link {
  readonly connected: boolean;
  /** Why nothing arrives, such as the error of the last attempt; undefined if all is well. */
  readonly reason: string | undefined;
}

/**
 * Watches a broadcast through a relay of Media over QUIC, such as `moq-relay`. It connects by
 * itself, and reconnects after the relay or the publisher was gone. Needs a browser with
 * WebTransport.
 */
export class Watching {
  /**
   * `address` is the relay's address, with the broadcast's name as the last part of its path. A
   * token follows as `?jwt=`.
   */
  constructor(address: string, options?: WatchOptions);

  readonly link: Link;

  /**
   * The viewer to draw. Undefined before the catalogue has arrived. A broadcast with another
   * catalogue has another viewer.
   */
  readonly viewer: Viewer | undefined;

  /** Watches other tiers. Throws if the broadcast does not have them. */
  watch(...tiers: string[]): void;

  /** Received bytes, without the headers of QUIC. */
  readonly receivedBytes: number;

  /** Tracks, groups and datagrams that could not be read to their ends, such as late groups. */
  readonly missed: number;

  /** The total time that decoding took. */
  readonly decodeMs: number;

  /** Ends the connection, and frees the viewer. */
  close(): void;
}
