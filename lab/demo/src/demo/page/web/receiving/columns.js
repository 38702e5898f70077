// The columns of a world in the module's memory, as bodies in the form that the drawing takes.

import { view } from "../memory.js";
import { bodiesOf } from "../worlds/bodies.js";

const NAMES = ["position", "orientation", "interacting"];

export class Columns {
  #kinds;
  #memory;
  #placesCount;
  #bodies = new Float32Array();

  /** `schema` is the module's description of the world's schema. */
  constructor(schema, memory) {
    this.#kinds = schema.kinds;
    this.#memory = memory;
    this.#placesCount = schema.kinds.reduce((sum, kind) => sum + 2 + kind.fields.length, 0);
  }

  /** The bodies of the world whose places begin at an address of the module: players first. Valid until the next call. */
  read(address) {
    const places = view(this.#memory, "u32", address, this.#placesCount);
    let at = 0;
    const kinds = this.#kinds.map(({ fields }) => {
      const [begin, count] = [at, places[at]];
      at += 2 + fields.length;
      const column = (name) => {
        const index = fields.findIndex((field) => field.name === name);
        const { type, size } = fields[index];
        return [name, view(this.#memory, type, places[begin + 2 + index], count * size)];
      };
      return { count, fields: Object.fromEntries(NAMES.map(column)) };
    });
    this.#bodies = bodiesOf(kinds, this.#bodies);
    return this.#bodies;
  }
}

/** The recent bits of each body, as a receiver or a simulation has them: without a copy. */
export const heatOf = (memory, of) => view(memory, "f32", of.heat_address(), of.heat_count());
