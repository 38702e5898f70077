// Code that the modules share: loading, and typed arrays that are views of a module's memory.

const TYPES = {
  f32: Float32Array,
  f64: Float64Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  u8: Uint8Array,
};

// Makes a loader of one module. The loader takes the argument of the package's `load`, and loads
// the module only once.
export function loader(initialize, url) {
  let loading;
  return (source = url) => (loading ??= start(initialize, source).catch((error) => {
    loading = undefined;
    throw error;
  }));
}

async function start(initialize, source) {
  if (typeof WebAssembly !== "object") {
    throw new Error("this browser has no WebAssembly; use one from 2020 or later");
  }
  let module_or_path = source;
  // Node cannot fetch files, so it reads them.
  if (source instanceof URL && source.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    module_or_path = await readFile(source);
  }
  return (await initialize({ module_or_path })).memory;
}

// A module that is loaded once, before any other call.
export class Loaded {
  #start;
  #memory;

  constructor(initialize, url) {
    this.#start = loader(initialize, url);
  }

  async load(source) {
    this.#memory = await this.#start(source);
  }

  get memory() {
    this.check();
    return this.#memory;
  }

  get bytes() {
    return this.memory.buffer.byteLength;
  }

  check() {
    if (!this.#memory) throw new Error("the module is not loaded; await load() first");
  }
}

// Returns `count` numbers of the type `type` at `address` of the module's memory, without a copy.
export function view(memory, type, address, count) {
  return new TYPES[type](memory.buffer, address, count);
}

// A view that is made anew only if its place has changed, so that a frame allocates nothing.
export class KeptView {
  #view;

  at(memory, type, address, count) {
    const kept = this.#view;
    if (kept?.buffer === memory.buffer && kept.byteOffset === address && kept.length === count) {
      return kept;
    }
    this.#view = view(memory, type, address, count);
    return this.#view;
  }
}

// The names and the parents of a skeleton's joints.
export function jointsOf(skeleton) {
  const joints = Array.from({ length: skeleton.joints() }, (_, index) => index);
  return {
    names: joints.map((joint) => skeleton.name(joint)),
    parents: joints.map((joint) => skeleton.parent(joint)),
  };
}

// Names numbers. `names` is the text of all names, as a module returns it.
export function named(names, numbers) {
  return Object.fromEntries(names.split(" ").map((name, index) => [name, numbers[index]]));
}
