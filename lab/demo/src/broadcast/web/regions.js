// The regions of a broadcast: tiers whose names have their edges in half metres.

const NAME = /^region\.(-?\d+)\.(-?\d+)\.(-?\d+)\.(-?\d+)$/;

export const isRegion = (name) => NAME.test(name);

export class Regions {
  #list;

  constructor(tiers) {
    this.#list = tiers.filter(isRegion).map((name) => {
      return { name, edges: NAME.exec(name).slice(1).map((edge) => Number(edge) / 2) };
    });
    // The regions at the sides extend to the end of the world.
    for (const [at, outermost, far] of [[0, Math.min, -Infinity], [1, Math.min, -Infinity], [2, Math.max, Infinity], [3, Math.max, Infinity]]) {
      const side = outermost(...this.#list.map(({ edges }) => edges[at]));
      for (const { edges } of this.#list) if (edges[at] === side) edges[at] = far;
    }
  }

  get count() {
    return this.#list.length;
  }

  /** The names of the regions that a circle on the floor touches. */
  within([x, y], radius_m) {
    const touched = this.#list.filter(({ edges: [x0, y0, x1, y1] }) => {
      return Math.hypot(Math.max(x0 - x, 0, x - x1), Math.max(y0 - y, 0, y - y1)) <= radius_m;
    });
    return touched.map(({ name }) => name);
  }
}
