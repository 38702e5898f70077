// The bytes of each frame around the shown moment. Requests a group's sizes when the moment comes
// near the group.

import { fetchFrames } from "./api.js";
import { Plot } from "./shared/plot.js";
import { colours } from "./shared/theme.js";

/** Half of the shown time. */
const HALF_S = 5;
/** The maximum number of groups whose sizes are kept. */
const KEPT = 64;
const LINES = [0, 0.5, 1];

export class FrameSizes extends Plot {
  #playhead;
  #groups = [];
  /** The frames of each known group. */
  #known = new Map();
  #asked = new Set();
  #drawn = "";

  constructor(canvas, playhead) {
    super(canvas);
    this.#playhead = playhead;
  }

  begin({ groups }) {
    // While a replay grows, this page may have asked for its last group before the group existed.
    this.#groups = groups;
  }

  /** The bytes of the frame that is shown; null if they are not known. */
  get bytes() {
    const { tick } = this.#playhead;
    const frames = this.#known.get(this.#groupOf(tick)) ?? [];
    return frames.findLast(([of]) => of <= tick)?.[1] ?? null;
  }

  /** The bandwidth of the last second. */
  get kbps() {
    const { tick, rate_hz } = this.#playhead;
    const within = this.#frames(tick - rate_hz, tick);
    return within.length > 0 ? within.reduce((sum, [, bytes]) => sum + bytes, 0) * 8e-3 : null;
  }

  draw() {
    if (!this.ready) return;
    const { tick, rate_hz } = this.#playhead;
    const [begin, end] = [tick - HALF_S * rate_hz, tick + HALF_S * rate_hz];
    this.#ask(begin, end);
    const state = [tick, colours.version, this.version, this.#known.size].join();
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.clear();
    const frames = this.#frames(begin, end);
    const firsts = new Set(this.#groups.map(([first]) => first));
    // The first frames of groups are far larger than the others, so their bars end at the top.
    const most = Math.max(1, ...frames.map(([at, bytes]) => (firsts.has(at) ? 0 : bytes)));
    const y = (bytes) => Math.round(this.bottom - Math.min(1, bytes / most) * (this.bottom - this.top));
    const x = (at) => this.left + ((at - begin) / (end - begin)) * (this.right - this.left);
    this.valueLines(LINES.map((share) => Math.round(share * most)), y);
    const width = Math.max(1, (this.right - this.left) / (end - begin) - 1);
    this.inside(() => {
      for (const [at, bytes] of frames) {
        this.context.fillStyle = colours.css[firsts.has(at) ? "part-orientation" : "part-position"];
        this.context.fillRect(x(at) - width / 2, y(bytes), width, this.bottom - y(bytes));
      }
    });
    this.marker(Math.round(x(tick)), `tick ${Math.floor(tick)}`);
  }

  #groupOf(tick) {
    return this.#groups.findLastIndex(([first]) => first <= tick);
  }

  #frames(begin, end) {
    const [from, to] = [Math.max(0, this.#groupOf(begin)), this.#groupOf(end)];
    const frames = [];
    for (let group = from; group <= to; group += 1) frames.push(...(this.#known.get(group) ?? []));
    return frames.filter(([tick]) => tick > begin && tick <= end);
  }

  #ask(begin, end) {
    const [from, to] = [Math.max(0, this.#groupOf(begin)), this.#groupOf(end)];
    for (let group = from; group <= to; group += 1) {
      if (this.#known.has(group) || this.#asked.size > 0) continue;
      this.#asked.add(group);
      fetchFrames(group).then((frames) => {
        this.#known.set(group, frames);
        if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value);
      }, () => this.#known.set(group, [])).finally(() => this.#asked.delete(group));
    }
  }
}
