import type { ModuleSource } from "./snapshots.js";

export type { ModuleSource };

/**
 * Loads the module of WebAssembly. Await it once, before anything else. Without a source it fetches
 * `module/clips_bg.wasm` beside this file.
 */
export function load(source?: ModuleSource): Promise<void>;

/** The joints of a rig: a skeleton file, as `kinepack anim build` writes it. */
export class Skeleton {
  /** Throws for anything that is not a skeleton file. */
  constructor(bytes: Uint8Array);
  readonly names: readonly string[];
  /** For each joint its parent; −1 for a root. Parents come before their children. */
  readonly parents: readonly number[];
  free(): void;
}

/** A pose: the transform of each joint relative to its parent. */
export interface Pose {
  /** x, y, z of each joint, in metres. */
  readonly translations: Float32Array;
  /** x, y, z, w of each joint. */
  readonly rotations: Float32Array;
  /** A factor for each axis of each joint. */
  readonly scales: Float32Array;
}

/** Plays one clip. Several players may play at once, each with a pose of its own. */
export class ClipPlayer {
  /** Throws for anything that is not a clip, and for a clip of another skeleton. */
  constructor(bytes: Uint8Array, skeleton: Skeleton);
  readonly durationS: number;
  /**
   * The pose at a time. Its arrays are windows into the module's memory: they are valid until the
   * next call of anything in this package.
   */
  sample(timeS: number): Pose;
  /** Blends the last pose towards that of another player: 0 leaves it, 1 takes the other one. */
  blend(other: ClipPlayer, weight: number): Pose;
  /** The last pose. */
  pose(): Pose;
  free(): void;
}
