import type { ModuleSource } from "./snapshots.js";

export type { ModuleSource };

/**
 * Loads the WebAssembly module. Await it once, before any other call. Without a source, it fetches
 * `module/clips_bg.wasm` from the folder of this file.
 */
export function load(source?: ModuleSource): Promise<void>;

/** The joints of a rig, read from a skeleton file that `kinepack anim build` writes. */
export class Skeleton {
  /** Throws if the bytes are not a skeleton file. */
  constructor(bytes: Uint8Array);
  /** A copy of the file. */
  readonly bytes: Uint8Array;
  readonly names: readonly string[];
  /** The parent of each joint; −1 for a root. Parents come before their children. */
  readonly parents: readonly number[];
  free(): void;
}

/** A pose: the transform of each joint relative to its parent. */
export interface Pose {
  /** The numbers x, y, z of each joint, in metres. */
  readonly translations: Float32Array;
  /** The numbers x, y, z, w of each joint. */
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
  /** Throws if the bytes are not a clip, or if the clip was built for another skeleton. */
  constructor(bytes: Uint8Array, skeleton: Skeleton);
  readonly durationS: number;
  /**
   * The names of the curves, which are numbers besides the joints, such as weights of blend shapes.
   */
  readonly curveNames: readonly string[];
  /** The markers, sorted by time. */
  readonly markers: readonly Marker[];
  /**
   * The pose at the time `timeS`. The arrays of the pose are views of the module's memory: they are
   * valid until the next call of any function of this package.
   */
  sample(timeS: number): Pose;
  /**
   * The values of all curves at the time `timeS`, in the order of `curveNames`. The array is valid
   * as long as a pose.
   */
  curves(timeS: number): Float32Array;
  /**
   * Blends the last pose with that of `other`. A weight of 0 gives this player's pose, 1 the other
   * one.
   */
  blend(other: ClipPlayer, weight: number): Pose;
  /** The pose that this player computed last. */
  pose(): Pose;
  free(): void;
}
