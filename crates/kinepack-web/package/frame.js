// A moment of a world, as arrays that are views of a module's memory.

import { view } from "./memory.js";

// The places begin with the lists of added ids, removed ids, ids that jumped, and events: a length
// and an address each.
const LISTS = [0, 2, 4, 6];
const LISTS_NUMBERS = 8;

// The columns of places in the world, and how many numbers each has for an entity.
const IN_WORLD = [["position", 3], ["rotation", 4], ["velocity", 3]];

// The method of a receiver or a viewer that returns its object in the module, and the module's
// memory. Figures, which have a module of their own, take lanes from there.
export const INNER = Symbol("inner");

// The index of the kind `name`.
export function kindNamed(kinds, name) {
  const index = kinds.findIndex((kind) => kind.name === name);
  if (index < 0) {
    const names = kinds.map((kind) => JSON.stringify(kind.name)).join(", ");
    throw new Error(`the schema has no kind ${JSON.stringify(name)}; it has ${names}`);
  }
  return index;
}

class Entities {
  constructor(name, ids, fields) {
    this.name = name;
    this.ids = ids;
    this.fields = fields;
    // Where the entities are in the world, if their fields are relative to others.
    this.places = undefined;
  }

  get count() {
    return this.ids.length;
  }

  indexOf(id) {
    let [low, high] = [0, this.ids.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    return this.ids[low] === id ? low : -1;
  }
}

export class Frame {
  // `lists` begins with the lists of ids, in the order of `LISTS`.
  constructor(tick, starved, lists, kinds, events) {
    this.tick = tick;
    this.starved = starved;
    [this.added, this.removed, this.cut] = lists;
    this.kinds = kinds;
    this.events = events;
  }

  kind(name) {
    return this.kinds[kindNamed(this.kinds, name)];
  }
}

// Makes frames from the places that a module reports.
export class FrameReader {
  #kinds;
  // The indices of the kinds that have places in the world.
  #framed;
  #count;

  // Takes the kinds of the world and those of the events.
  constructor(kinds, eventKinds = []) {
    this.#kinds = [...kinds, ...eventKinds];
    this.#framed = Array.from(kinds.keys())
      .filter((kind) => kinds[kind].fields.some((field) => field.frame !== undefined));
    this.#count = this.#kinds.reduce(
      (sum, kind) => sum + 2 + kind.fields.length,
      LISTS_NUMBERS + IN_WORLD.length * this.#framed.length,
    );
  }

  // Reads the lists and the kinds at `address`, as `[lists, kinds]`. Without `hasLists`, the lists
  // are empty.
  read(memory, address, hasLists) {
    const places = view(memory, "u32", address, this.#count);
    let at = LISTS_NUMBERS;
    const kinds = this.#kinds.map(({ name, fields }) => {
      const count = places[at];
      const columns = {};
      const ids = view(memory, "u32", places[at + 1], count);
      at += 2;
      for (const field of fields) {
        columns[field.name] = view(memory, field.type, places[at], count * field.size);
        at += 1;
      }
      return new Entities(name, ids, columns);
    });
    for (const kind of this.#framed) {
      kinds[kind].places = {};
      for (const [column, size] of IN_WORLD) {
        const count = kinds[kind].count * size;
        kinds[kind].places[column] = view(memory, "f64", places[at], count);
        at += 1;
      }
    }
    const lists = LISTS.map((list) => {
      return view(memory, "u32", places[list + 1], hasLists ? places[list] : 0);
    });
    return [lists, kinds];
  }
}
