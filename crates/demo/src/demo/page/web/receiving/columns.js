// The columns of a world in the module's memory, as bodies in the form that the drawing takes.

import { view } from "../memory.js";
import { BODY_WORDS } from "../protocol.js";
import { fillBodies } from "../worlds/fill_bodies.js";

const NAMES = ["position", "orientation", "interacting"];

export class Columns {
  #kinds;
  #memory;
  #bodies = new Float32Array();

  /** `schema` is what the module says of it. */
  constructor(schema, memory) {
    this.#kinds = schema.kinds;
    this.#memory = memory;
  }

  /** How many numbers the places of a world are. */
  get placesCount() {
    return this.#kinds.reduce((sum, kind) => sum + 2 + kind.fields.length, 0);
  }

  /** The bodies of the world whose places begin at an address of the module: players first. Valid until the next call. */
  read(address) {
    const places = view(this.#memory, "u32", address, this.placesCount);
    let [count, at] = [0, 0];
    for (const { fields } of this.#kinds) {
      count += places[at];
      at += 2 + fields.length;
    }
    if (this.#bodies.length !== count * BODY_WORDS) this.#bodies = new Float32Array(count * BODY_WORDS);
    let to = 0;
    at = 0;
    for (const { fields } of this.#kinds) {
      const column = (name) => {
        const index = fields.findIndex((field) => field.name === name);
        const { type, size } = fields[index];
        return view(this.#memory, type, places[at + 2 + index], places[at] * size);
      };
      const [position, orientation, interacting] = NAMES.map(column);
      to = fillBodies(this.#bodies, to, places[at], { position, orientation, interacting });
      at += 2 + fields.length;
    }
    return this.#bodies;
  }
}

/** The recent bits of each body, from the two numbers that the module says: without a copy. */
export const heatOf = (memory, [count, address]) => view(memory, "f32", address, count);
