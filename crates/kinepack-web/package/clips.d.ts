import type { ModuleSource } from "./snapshots.js";

export type { ModuleSource };

/**
 * Loads the module of WebAssembly. Await it once, before anything else. Without a source it fetches
 * `module/clips_bg.wasm` next to this file.
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

/** A named time of a clip, such as a footstep. */
export interface Marker {
  readonly name: string;
  /** Seconds from the clip's first sample. */
  readonly timeS: number;
}

/** Plays one clip. Several players may play at once, each with its own pose. */
export class ClipPlayer {
  /** Throws for anything that is not a clip, and for a clip of another skeleton. */
  constructor(bytes: Uint8Array, skeleton: Skeleton);
  readonly durationS: number;
  /** The names of the curves: numbers besides the joints, such as weights of blend shapes. */
  readonly curveNames: readonly string[];
  /** The markers, sorted by time. */
  readonly markers: readonly Marker[];
  /**
   * The pose at a time. Its arrays are windows into the module's memory: they are valid until the
   * next call of any function of this package.
   */
  sample(timeS: number): Pose;
  /** The values of all curves at a time, in the order of `curveNames`; valid as long as a pose. */
  curves(timeS: number): Float32Array;
  /** Blends the last pose with that of another player: weight 0 gives this pose, 1 the other. */
  blend(other: ClipPlayer, weight: number): Pose;
  /** The last pose. */
  pose(): Pose;
  free(): void;
}
