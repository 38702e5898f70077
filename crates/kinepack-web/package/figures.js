// Live bodies. This file implements `figures.d.ts` with the WebAssembly module.

import { ClipPlay } from "./clip-play.js";
import { INNER, kindNamed } from "./frame.js";
import { KeptView, Loaded, jointsOf, view } from "./memory.js";
import initialize, * as module from "./module/figures.js";

export { ClipPlay };

// Slots are numbered by a byte.
const MOST_SLOTS = 255;

const loaded = new Loaded(initialize, new URL("module/figures_bg.wasm", import.meta.url));

export const load = (source) => loaded.load(source);

export const memoryBytes = () => loaded.bytes;

export class Figure {
  constructor(skeleton, options = {}) {
    loaded.check();
    const joints = skeletonOf(skeleton);
    Object.assign(this, jointsOf(joints));
    const { precisionCm, shellCm, jointPrecisionsCm, motions, curves = [], parts = [] } = options;
    const { slots: clipSlots = 0, names: clipNames = [] } = options.clips ?? {};
    if (!Number.isInteger(clipSlots) || clipSlots < 0 || clipSlots > MOST_SLOTS) {
      throw new RangeError(`the slots of clips must be a whole number from 0 to ${MOST_SLOTS}`);
    }
    const coarser = listOf("coarser", options.coarser ?? [], Infinity);
    this.curveNames = curves.map(({ name }) => name);
    this.partNames = parts.map(({ name }) => name);
    this.clipNames = [...clipNames];
    this.clipSlots = clipSlots;
    this.tierCount = 1 + coarser.length;
    const setup = new module.FigureSetup(joints);
    joints.free();
    if (precisionCm !== undefined) setup.precision(precisionCm);
    if (shellCm !== undefined) setup.shell(shellCm);
    for (const [joint, cm] of entriesOf(jointPrecisionsCm)) {
      setup.joint_precision(indexOf(this.names, joint, "joint"), cm);
    }
    for (const [joint, motion] of entriesOf(motions)) {
      setMotion(setup, indexOf(this.names, joint, "joint"), motion);
    }
    for (const { name, min, max, precision } of curves) setup.curve(name, min, max, precision);
    for (const { name, joints: some = [], curves: few = [] } of parts) {
      const indices = (names, list, what) => {
        return Uint32Array.from(list, (one) => indexOf(names, one, what));
      };
      const ofJoints = indices(this.names, some, "joint");
      setup.part(name, ofJoints, indices(this.curveNames, few, "curve"));
    }
    setup.clips(clipSlots, this.clipNames);
    setup.coarser(Float64Array.from(coarser));
    this.inner = setup.build();
    this.maxErrorsCm = this.inner.max_errors_cm();
  }

  schemaFile() {
    return this.inner.schema_file();
  }

  bindPose() {
    const input = new module.FigureLanes(this.inner);
    const { translations, rotations, scales, curves } = columnsOf(this, input.places());
    const pose = {
      translations: translations.slice(), rotations: rotations.slice(), scales: scales.slice(),
      curves: curves.slice(),
    };
    input.free();
    return pose;
  }

  free() {
    this.inner.free();
  }
}

export class FigurePlayer {
  #bodies;
  #figure;
  #world;
  #memory;
  #kind;
  #from = new KeptView();
  #to = new KeptView();
  #ids = new KeptView();
  #poses = [];
  #count = 0;

  constructor(figure, source, kind = "") {
    loaded.check();
    if (typeof source?.[INNER] !== "function") {
      throw new TypeError("a figure is played from a Receiver or a Viewer");
    }
    this.#kind = kindNamed(source.schema.kinds, kind);
    const { inner, memory } = source[INNER]();
    const hashOf = (first, count) => inner.fields_hash(this.#kind, first, count);
    const [before, after] = lanesAround(figure, source.schema.kinds[this.#kind], hashOf);
    this.#figure = figure;
    this.#bodies = new module.FigureBodies(figure.inner, before, after);
    [this.#world, this.#memory] = [inner, memory];
    this.#world.keep_lanes(this.#kind);
  }

  play() {
    this.#count = 0;
    const length = this.#world.lanes_len(this.#kind);
    const from = this.#from.at(this.#memory, "u32", this.#world.lanes_at(this.#kind), length);
    const address = this.#bodies.place(length);
    this.#to.at(loaded.memory, "u32", address, length).set(from);
    this.#count = this.#bodies.play(this.#world.tick());
    return this.#count;
  }

  get count() {
    return this.#count;
  }

  get ids() {
    return this.#ids.at(loaded.memory, "u32", this.#bodies.ids_at(), this.#count);
  }

  pose(index) {
    this.#check(index);
    const kept = this.#poses[index];
    // If the memory grew, the arrays have lost their contents.
    if (kept?.rotations.buffer === loaded.memory.buffer) return kept;
    this.#poses[index] = columnsOf(this.#figure, this.#bodies.places(index));
    return this.#poses[index];
  }

  isPresent(index, part) {
    this.#check(index);
    return this.#bodies.is_present(index, indexOf(this.#figure.partNames, part, "part"));
  }

  clip(index, slot = 0) {
    this.#check(index);
    checkSlot(slot, this.#figure.clipSlots);
    const [clip, timeTicks, speed, weight] = this.#bodies.clip(index, slot);
    if (clip === undefined) return undefined;
    return { clip, name: this.#figure.clipNames[clip], timeTicks, speed, weight };
  }

  #check(index) {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) {
      throw new RangeError(`there is no body ${index}; there are ${this.#count}`);
    }
  }

  free() {
    this.#bodies.free();
  }
}

// Sends a page's own body in a stream of inputs.
export class FigureSender {
  #figure;
  #inputs;
  #input;
  #bind;
  #pose;

  constructor(figure, inputs) {
    loaded.check();
    if (typeof inputs?.pushLanes !== "function") {
      throw new TypeError("a figure is sent by an InputSender");
    }
    const [{ hash, fields }] = inputs.schema.kinds;
    if (hash !== figure.inner.hash()) {
      throw difference("the stream", figure, fields.map((field) => field.name));
    }
    [this.#figure, this.#inputs, this.#bind] = [figure, inputs, figure.bindPose()];
    this.#input = new module.FigureLanes(figure.inner);
    this.lanes = new Uint32Array();
  }

  push(pose) {
    if (this.#input === undefined) throw new Error("the sender was freed");
    if (typeof pose !== "object" || pose === null) {
      throw new TypeError("push takes a pose: an object with rotations");
    }
    const { names, partNames, tierCount, clipSlots } = this.#figure;
    const { tier = 0 } = pose;
    const absent = listOf("absent", pose.absent ?? [], partNames.length);
    const clips = listOf("clips", pose.clips ?? [], Infinity);
    if (clips.length > clipSlots) checkSlot(clips.length - 1, clipSlots);
    if (!Number.isInteger(tier) || tier < 0 || tier >= tierCount) {
      throw new RangeError(`there is no tier ${tier}; the figure has ${tierCount}: tier 0, and `
        + "one for each number of its option `coarser`");
    }
    const parts = Uint32Array.from(absent, (part) => indexOf(partNames, part, "part"));
    const plays = playsOf(this.#figure, clips);
    this.#write(pose, names.length);
    const lanes = this.#input.quantize(parts, plays, tier);
    const number = this.#inputs.pushLanes(lanes);
    this.lanes = lanes;
    return number;
  }

  // Copies a pose into the module's memory.
  #write(pose, joints) {
    // If the memory grew, the arrays have lost their contents.
    if (this.#pose?.rotations.buffer !== loaded.memory.buffer) {
      this.#pose = columnsOf(this.#figure, this.#input.places());
    }
    const { translations, scales } = this.#bind;
    const given = {
      translations: pose.translations ?? translations, rotations: pose.rotations,
      scales: pose.scales ?? scales, curves: pose.curves ?? [],
    };
    for (const [what, numbers] of Object.entries(given)) {
      const { length } = this.#pose[what];
      if (numbers?.length === length) continue;
      const each = what === "curves" ? "1 for each curve" : `${length / joints} for each joint`;
      throw new TypeError(`${what} must be ${length} numbers, ${each}, not ${numbers?.length}`);
    }
    for (const [what, numbers] of Object.entries(given)) this.#pose[what].set(numbers);
  }

  free() {
    this.#input?.free();
    // The pose is in the memory that was freed.
    this.#input = undefined;
    this.#pose = undefined;
  }
}

// A body's pose and curves as views of the module's memory.
function columnsOf(figure, [translations, rotations, scales, curves]) {
  const joints = figure.names.length;
  return {
    translations: view(loaded.memory, "f32", translations, 3 * joints),
    rotations: view(loaded.memory, "f32", rotations, 4 * joints),
    scales: view(loaded.memory, "f32", scales, 3 * joints),
    curves: view(loaded.memory, "f32", curves, figure.curveNames.length),
  };
}

// Checks that a value is an array of at most this many elements.
function listOf(what, value, most) {
  if (!Array.isArray(value) && !(ArrayBuffer.isView(value) && "length" in value)) {
    throw new TypeError(`${what} must be an array`);
  }
  if (value.length > most) {
    throw new RangeError(`${what} has ${value.length} elements; at most ${most} are possible`);
  }
  return value;
}

// Five numbers for each slot of clips: the clip, a tick, and the time, speed and weight then.
function playsOf({ clipNames, clipSlots }, clips) {
  const plays = new Float64Array(5 * clipSlots);
  for (let slot = 0; slot < clipSlots; slot += 1) {
    const play = clips[slot];
    if (play === undefined || play === null) {
      plays[5 * slot] = -1;
      continue;
    }
    if (!(play instanceof ClipPlay)) throw new TypeError("a clip that plays is a ClipPlay");
    const { clip, since, speed, weight } = play;
    const index = indexOf(clipNames, clip, "clip");
    plays.set([index, since, play.timeTicks(since), speed, weight], 5 * slot);
  }
  return plays;
}

function checkSlot(slot, slots) {
  if (Number.isInteger(slot) && slot >= 0 && slot < slots) return;
  throw new RangeError(`there is no slot ${slot}; there are ${slots}`);
}

// The numbers of lanes of a kind before those of the figure, and after them. `hashOf` returns the
// hash of some fields of the kind. Throws if the kind does not have the figure's fields.
function lanesAround(figure, { name, hash, fields }, hashOf) {
  if (hash === figure.inner.hash()) return [0, 0];
  const ours = figure.inner.field_names();
  const first = fields.findIndex((field) => withoutDigest(field.name) === withoutDigest(ours[0]));
  const [begin, end] = [Math.max(first, 0), Math.max(first, 0) + ours.length];
  if (hashOf(begin, ours.length) === figure.inner.hash()) {
    const lanesOf = (some) => some.reduce((sum, { lanes }) => sum + lanes, 0);
    return [lanesOf(fields.slice(0, begin)), lanesOf(fields.slice(end))];
  }
  const theirs = fields.slice(begin, end).map((field) => field.name);
  throw difference(`the kind ${JSON.stringify(name)}`, figure, theirs, begin);
}

// The error that says how `theirs`, the names of the fields of `what` from `begin` on, differ from
// the figure's.
function difference(what, figure, theirs, begin = 0) {
  const ours = figure.inner.field_names();
  const kind = `${what} is not of this figure`;
  const length = Math.max(theirs.length, ours.length);
  for (let at = 0; at < length; at += 1) {
    if (theirs[at] === ours[at]) continue;
    if (withoutDigest(theirs[at]) === withoutDigest(ours[at])) {
      return new Error(`${kind}: its joints have other bind poses, or other axes of hinges, `
        + "or its clips have other names");
    }
    const quoted = (field) => (field === undefined ? "missing" : JSON.stringify(field));
    return new Error(`${kind}: its field ${begin + at} is ${quoted(theirs[at])}, and the figure's `
      + `is ${quoted(ours[at])}; both sides need the same skeleton and options`);
  }
  return new Error(`${kind}: its numbers have other limits; both sides need the same precisions, `
    + "shell, ranges of motions, curves and parts");
}

// The first field's name has a digest of what the limits do not show.
function withoutDigest(field) {
  return field?.replace(/ [0-9a-f]{16}\]/, "]");
}

function skeletonOf(skeleton) {
  const bytes = skeleton?.bytes ?? skeleton;
  if (bytes instanceof Uint8Array) return new module.SkeletonJoints(bytes);
  if (!Array.isArray(skeleton)) {
    throw new TypeError("a skeleton is the bytes of a file, a Skeleton, or an array of joints");
  }
  const names = skeleton.map(({ name = "" }) => name);
  const parents = Int32Array.from(skeleton, ({ parent }) => {
    const isRoot = parent === undefined || parent === null || parent === -1;
    return isRoot ? -1 : indexOf(names, parent, "joint");
  });
  const binds = skeleton.flatMap(({ bind: { rotation, translationCm, scale } = {} }) => [
    ...numbers("rotation", rotation ?? [0, 0, 0, 1], 4),
    ...numbers("translationCm", translationCm ?? [0, 0, 0], 3),
    ...numbers("scale", scale ?? [1, 1, 1], 3),
  ]);
  return module.SkeletonJoints.of_joints(names, parents, Float32Array.from(binds));
}

function numbers(what, list, count) {
  if (list.length !== count) throw new TypeError(`${what} must be ${count} numbers`);
  return list;
}

// The index of something that is given by its name or its index.
function indexOf(names, one, what) {
  const index = typeof one === "string" ? names.indexOf(one) : one;
  if (Number.isInteger(index) && index >= 0 && index < names.length) return index;
  throw new Error(`there is no ${what} ${JSON.stringify(one)}`);
}

function entriesOf(map = []) {
  return typeof map[Symbol.iterator] === "function" ? map : Object.entries(map);
}

function setMotion(setup, joint, motion) {
  if (motion === "still") setup.still(joint);
  else if (motion === "turns") setup.turns(joint);
  else if (motion?.hinge !== undefined) setup.hinge(joint, ...numbers("hinge", motion.hinge, 3));
  else if (motion?.rangeCm !== undefined) setup.moves(joint, motion.rangeCm);
  else {
    const text = JSON.stringify(motion);
    throw new TypeError(`a motion is "still", "turns", { hinge } or { rangeCm }, not ${text}`);
  }
}
