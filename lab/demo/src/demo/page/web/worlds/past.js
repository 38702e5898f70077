// The true worlds of the last moments. The errors and the third view are computed from the worlds
// at the shown moment.

/** The maximum memory for these worlds. */
const BYTES_MAX = 48 << 20;

export class Past {
  #worlds = [];

  /** Adds the world of the next tick. An earlier tick begins anew. */
  add(tick, bodies) {
    if (tick < (this.#worlds.at(-1)?.tick ?? 0)) this.clear();
    this.#worlds.push({ tick, bodies });
    while (this.#worlds.length > 2 && this.#worlds.length * bodies.byteLength > BYTES_MAX) this.#worlds.shift();
  }

  clear() {
    this.#worlds = [];
  }

  /** The newest world that is not after a moment, or else the oldest one. */
  at(tick) {
    return (this.#worlds.findLast((world) => world.tick <= tick) ?? this.#worlds[0])?.bodies ?? null;
  }

  /** The worlds before and after a moment, if they are at most a tick apart, and the moment's place between them, 0 to 1. Else null. */
  around(tick) {
    const index = this.#worlds.findLastIndex((world) => world.tick <= tick);
    if (index < 0) return null;
    const before = this.#worlds[index];
    const after = before.tick === tick ? before : this.#worlds[index + 1];
    return after && after.tick - before.tick <= 1 ? [before.bodies, after.bodies, tick - before.tick] : null;
  }

  /** Drops all worlds before the one at a moment. */
  forget(tick) {
    while (this.#worlds.length > 1 && this.#worlds[1].tick <= tick) this.#worlds.shift();
  }
}
