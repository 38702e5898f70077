import type { Pose, Skeleton } from "./clips.js";
import type { Viewer } from "./crowd.js";
import type { InputSender, ModuleSource, Receiver } from "./snapshots.js";

export type { ModuleSource, Pose };

/**
 * Loads the WebAssembly module. Await it once, before any other call. Without a source, it fetches
 * `module/figures_bg.wasm` from the folder of this file.
 */
export function load(source?: ModuleSource): Promise<void>;

/** The size of the module's memory, which all figures and players share. It never shrinks. */
export function memoryBytes(): number;

/** A joint that is given by hand, not by a file. */
export interface FigureJoint {
  /** The name; empty by default. */
  name?: string;
  /** The parent's name or index. It comes before this joint. A root has no parent, or −1. */
  parent?: string | number;
  /** The bind pose relative to the parent. */
  bind?: {
    /** The numbers x, y, z in centimetres; 0 by default. */
    translationCm?: ArrayLike<number> & Iterable<number>;
    /** The numbers x, y, z, w; no rotation by default. */
    rotation?: ArrayLike<number> & Iterable<number>;
    /** A factor for each axis; 1 by default. */
    scale?: ArrayLike<number> & Iterable<number>;
  };
}

/**
 * How a joint moves relative to its parent: not at all, about any axis, about one axis of its own
 * space, or also away from its bind pose, by up to `rangeCm` centimetres along each axis.
 */
export type FigureMotion =
  | "still"
  | "turns"
  | { hinge: readonly [number, number, number] }
  | { rangeCm: number };

/** A number besides the joints, such as the weight of a face shape. */
export interface FigureCurve {
  name: string;
  min: number;
  max: number;
  /** The largest error of a value. */
  precision: number;
}

/** A part of the body that may be absent, for example because it is not tracked. */
export interface FigurePart {
  name: string;
  /** The names or indices of the joints, with all joints below each of them. */
  joints?: readonly (string | number)[];
  /** The names or indices of the curves. */
  curves?: readonly (string | number)[];
}

/**
 * Values by joint: an object with the joints' names, or pairs of a joint and a value. In pairs, a
 * joint may also be given by its index, for skeletons with a name that several joints have.
 */
export type ByJoint<Value> =
  | Readonly<Record<string, Value>>
  | Iterable<readonly [string | number, Value]>;

/** The options of a figure. Server and page need the same options. */
export interface FigureOptions {
  /**
   * The largest error in cm, in model space, of any point within `shellCm` of a joint; 0.5 by
   * default.
   */
  precisionCm?: number;
  /** The distance from a joint to the skin around it, in cm; 3 by default. */
  shellCm?: number;
  /** Joints with another precision, in cm. */
  jointPrecisionsCm?: ByJoint<number>;
  /** Joints that move in another way. By default, roots move within 100 m, and others turn. */
  motions?: ByJoint<FigureMotion>;
  /** The curves, in their order. */
  curves?: readonly FigureCurve[];
  /** The parts that may be absent, in their order. Everything else is always present. */
  parts?: readonly FigurePart[];
  /** The names of the clips that a body can play, in their order, and how many at once. */
  clips?: { slots: number; names: readonly string[] };
  /**
   * How many times coarser each further tier is than the precisions above, increasing from more
   * than 1. A body that is sent in a coarser tier is shown like any other.
   */
  coarser?: readonly number[];
}

/** The body of one kind of entity, as `kinepack_anim::figure::Figure` in Rust. */
export class Figure {
  /**
   * Makes a figure of a skeleton: the bytes of a skeleton file, a `Skeleton` of clips, or joints
   * given by hand. Throws if the skeleton or an option is not valid.
   */
  constructor(
    skeleton: Uint8Array | Pick<Skeleton, "bytes"> | readonly FigureJoint[],
    options?: FigureOptions,
  );
  readonly names: readonly string[];
  /** The parent of each joint; −1 for a root. Parents come before their children. */
  readonly parents: readonly number[];
  readonly curveNames: readonly string[];
  readonly partNames: readonly string[];
  readonly clipNames: readonly string[];
  /** The number of clips that can play at once. */
  readonly clipSlots: number;
  /** The number of tiers: 1 and those of `coarser`. */
  readonly tierCount: number;
  /**
   * The largest error of each joint in cm, in poses that move only as the options say. It is at
   * most the joint's precision.
   */
  readonly maxErrorsCm: Float64Array;
  /** The schema file of a stream whose records are such bodies, for an `InputSender`. */
  schemaFile(): Uint8Array;
  /**
   * A new copy of the bind pose, to be changed and given to `FigureSender.push`. Curves are as near
   * to 0 as they may be.
   */
  bindPose(): FigurePose;
  free(): void;
}

/** The pose of a body, and the values of its curves in the order of `Figure.curveNames`. */
export interface FigurePose extends Pose {
  readonly curves: Float32Array;
}

/** A clip that a body plays at a moment. */
export interface FigureClip {
  /** The index of the clip. */
  clip: number;
  /** The name of the clip. */
  name: string;
  /**
   * The time to show, in ticks from the beginning of the clip. Multiply it by the seconds of a
   * tick. It may be negative or beyond the end of the clip.
   */
  timeTicks: number;
  /** The ticks of the clip that pass per tick. */
  speed: number;
  /** The weight, from 0 to 1. */
  weight: number;
}

/**
 * Plays all bodies of one kind of a world. A page calls `play` of the receiver or viewer first, and
 * then `play` of this player, in each frame. If no body is added, a frame allocates nothing here.
 */
export class FigurePlayer {
  /**
   * Throws if the schema has no kind with this name, or if the kind does not have the fields of the
   * figure. The error says what differs. The kind may have other fields too, as kinds of Bevy have. The kind's name is empty if the schema has only one kind.
   *
   * Bodies are shown from the next moment on that the receiver or viewer returns.
   */
  constructor(figure: Figure, source: Receiver | Viewer, kind?: string);
  /**
   * Computes the poses at the moment that the receiver or viewer returned last, by `play`, `playAt`
   * or `newest`. Returns the number of bodies.
   */
  play(): number;
  /** The number of bodies of the last `play`. */
  readonly count: number;
  /** The ids of the bodies, in increasing order. The array is valid as long as a pose. */
  readonly ids: Uint32Array;
  /**
   * The pose of the body with this index. Throws if there is no such body. The arrays are views of
   * the module's memory: they are valid until the next call of `play` of any player, or until the
   * next figure or player is made.
   *
   * The joints of absent parts have their bind pose, and their curves are 0.
   */
  pose(index: number): FigurePose;
  /** Whether a body has a part, which is given by its name or index. */
  isPresent(index: number, part: string | number): boolean;
  /**
   * The clip that a body plays in a slot, 0 by default. Undefined if the slot is empty. Sample the
   * clip yourself, and mix it with the pose.
   */
  clip(index: number, slot?: number): FigureClip | undefined;
  free(): void;
}

/**
 * A clip that a body plays, as `kinepack_anim::figure::ClipPlay` in Rust. A play does not change:
 * its methods return a new one. Start it, keep it, and give it to each pose. While it stays the
 * same, it takes no bits, although its time runs. Ticks are those of the server's world, as integers
 * from 0 to below 2^32.
 */
export class ClipPlay {
  /**
   * Starts a clip of `Figure.clipNames`, given by its name or index, at a tick, from its beginning,
   * with speed and weight 1.
   */
  static start(clip: string | number, tick: number): ClipPlay;
  private constructor();
  /** The name or index of the clip. */
  readonly clip: string | number;
  /** The tick at which the clip started, or at which its time or speed changed last. */
  readonly since: number;
  /** The ticks of the clip that pass per tick. */
  readonly speed: number;
  /** The weight, from 0 to 1. */
  readonly weight: number;
  /**
   * The clip's time in ticks at a tick with its fraction. Multiply it by the seconds of a tick. It
   * may be negative or beyond the end of the clip.
   */
  timeTicks(tick: number): number;
  /**
   * Has another time at a tick, in ticks from −2^21 to below 2^21, in steps of 1/1024. Throws for
   * other numbers.
   */
  withTime(tick: number, timeTicks: number): ClipPlay;
  /**
   * Has another speed from a tick on, at which the time stays the same: from −16 to 16, in steps of
   * 1/1024. 0 is a paused clip. Throws for other numbers.
   */
  withSpeed(tick: number, speed: number): ClipPlay;
  /** Has another weight, from 0 to 1, in steps of 1/255. Throws for other numbers. */
  withWeight(weight: number): ClipPlay;
}

/**
 * A pose to send. Arrays are in the order of the figure's joints and curves, and all transforms are
 * relative to the parent. A `FigurePose` that `bindPose` or a `FigurePlayer` returns is one too.
 */
export interface SentPose {
  /** The numbers x, y, z, w of each joint. Their length must be within 1 % of 1. */
  rotations: ArrayLike<number>;
  /** The numbers x, y, z of each joint, in metres; those of the bind pose by default. */
  translations?: ArrayLike<number>;
  /** The factors of each joint; those of the bind pose by default. Figures send no other scales. */
  scales?: ArrayLike<number>;
  /** The values of the curves. Figures without curves need none. */
  curves?: ArrayLike<number>;
  /** The names or indices of the parts that are absent. The numbers of these are ignored. */
  absent?: readonly (string | number)[];
  /** The clip that plays in each slot. Slots without one are empty. */
  clips?: readonly (ClipPlay | null | undefined)[];
  /** The tier in which the pose is sent; 0 by default, which is the finest. */
  tier?: number;
}

/** Sends a page's own body to a server, in a stream of inputs whose records are bodies. */
export class FigureSender {
  /**
   * Throws if the stream's records are not the fields of the figure. The error says what differs.
   * Use one stream for the body alone. Other inputs are a stream on another channel.
   */
  constructor(figure: Figure, inputs: InputSender);
  /**
   * Quantizes a pose as Rust does, bit by bit, and adds it to the stream. Returns the number of the
   * record, which `InputSender.transmit` puts into its next packet.
   *
   * Throws if the figure cannot send the pose. The error names the joint, the curve or the part, and
   * says what to do. Then nothing has changed.
   */
  push(pose: SentPose): number;
  /**
   * The integers of the last pose, for tests that compare them with the server's. Empty before the
   * first pose.
   */
  readonly lanes: Uint32Array;
  /** Frees the memory of this object. The figure and the stream stay. */
  free(): void;
}
