// Animation clips. This file implements `clips.d.ts` with the WebAssembly module.

import { Loaded, jointsOf, view } from "./memory.js";
import initialize, * as module from "./module/clips.js";

const loaded = new Loaded(initialize, new URL("module/clips_bg.wasm", import.meta.url));

export const load = (source) => loaded.load(source);

export class Skeleton {
  constructor(bytes) {
    loaded.check();
    this.inner = new module.SkeletonJoints(bytes);
    this.bytes = bytes.slice();
    Object.assign(this, jointsOf(this.inner));
  }

  free() {
    this.inner.free();
  }
}

export class ClipPlayer {
  #player;
  #joints;

  constructor(bytes, skeleton) {
    loaded.check();
    this.#player = new module.ClipPlayer(bytes, skeleton.inner);
    this.#joints = skeleton.names.length;
    this.durationS = this.#player.duration_s();
    this.curveNames = this.#player.curve_names();
    const times = this.#player.marker_times_s();
    this.markers = this.#player.marker_names().map((name, index) => ({ name, timeS: times[index] }));
  }

  sample(timeS) {
    this.#player.sample(timeS);
    return this.pose();
  }

  curves(timeS) {
    return view(loaded.memory, "f32", this.#player.sample_curves(timeS), this.curveNames.length);
  }

  blend(other, weight) {
    this.#player.blend(other.#player, weight);
    return this.pose();
  }

  pose() {
    const [translations, rotations, scales] = this.#player.places();
    return {
      translations: view(loaded.memory, "f32", translations, 3 * this.#joints),
      rotations: view(loaded.memory, "f32", rotations, 4 * this.#joints),
      scales: view(loaded.memory, "f32", scales, 3 * this.#joints),
    };
  }

  free() {
    this.#player.free();
  }
}
