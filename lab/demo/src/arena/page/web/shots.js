// The shots that are visible. A player who has just shot is marked, so a shot begins when the mark
// appears. It ends at the first player or wall in its way, as this screen shows them.

const SHOWN_MS = 160;

export class Shots {
  /** The players who were marked in the last frame. */
  #marked = new Set();
  #shots = [];

  forget() {
    this.#marked.clear();
    this.#shots = [];
  }

  /** Adds the shots of a frame. Returns those that are visible: both ends, whether they hit, and their age as 0 to 1. */
  update(now_ms, players, map) {
    const marked = players.filter((player) => player.has_shot);
    for (const player of marked) {
      if (!this.#marked.has(player.id)) this.#shots.push({ begin_ms: now_ms, id: player.id, ...follow(player, players, map) });
    }
    this.#marked = new Set(marked.map((player) => player.id));
    this.#shots = this.#shots.filter((shot) => now_ms - shot.begin_ms < SHOWN_MS);
    return this.#shots.map((shot) => ({ ...shot, age: (now_ms - shot.begin_ms) / SHOWN_MS }));
  }
}

/** The same as `follow` in arena/src/shot.rs. */
function follow({ id, x, y, aim_x, aim_y }, players, map) {
  const length = Math.hypot(aim_x, aim_y) || 1;
  const aim = [aim_x / length, aim_y / length];
  const from = [x, y];
  let far = Math.min(...[0, 1].map((axis) => toEdge(from[axis], aim[axis], map.half_m[axis])));
  for (const { at, half } of map.walls) far = Math.min(far, toWall(from, aim, at, half));
  let hit = false;
  for (const other of players) {
    const distance = other.id === id || other.health === 0 ? Infinity : toDisc(from, aim, other, map.radius_m);
    if (distance < far) [far, hit] = [distance, true];
  }
  return { from, to: [x + aim[0] * far, y + aim[1] * far], hit };
}

const toEdge = (from, aim, half) => (aim === 0 ? Infinity : Math.max(0, (half * Math.sign(aim) - from) / aim));

function toWall(from, aim, at, half) {
  let [enters, leaves] = [0, Infinity];
  for (const axis of [0, 1]) {
    const [low, high] = [-1, 1].map((side) => at[axis] + side * half[axis] - from[axis]);
    if (aim[axis] === 0) {
      if (low > 0 || high < 0) return Infinity;
      continue;
    }
    enters = Math.max(enters, Math.min(low / aim[axis], high / aim[axis]));
    leaves = Math.min(leaves, Math.max(low / aim[axis], high / aim[axis]));
  }
  return enters <= leaves ? enters : Infinity;
}

function toDisc([x, y], [aim_x, aim_y], other, radius) {
  const [to_x, to_y] = [other.x - x, other.y - y];
  const along = to_x * aim_x + to_y * aim_y;
  const beside = to_x * aim_y - to_y * aim_x;
  const half = radius * radius - beside * beside;
  return along > 0 && half >= 0 ? Math.max(0, along - Math.sqrt(half)) : Infinity;
}
