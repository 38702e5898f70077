// The time that all charts share: the last 20 s up to an edge that follows the world's ticks, and the
// moment at the pointer.

import { reducedMotion } from "../shared/theme.js";

const WINDOW_S = 20;
/** The newest samples are up to this many seconds old when they arrive. The edge lags behind them, so that the charts scroll evenly. */
const LAG_S = 0.2;
/** With reduced motion, the charts advance in steps. */
const STEP_S = 0.5;

export class Timeline {
  tick_hz = 60;
  /** The tick at the right end. */
  edge = 0;
  /** The pointer's distance from the right end, 0 to 1, or null. */
  hover = null;

  get ticks() {
    return WINDOW_S * this.tick_hz;
  }

  get first() {
    return this.edge - this.ticks;
  }

  /** The tick at the pointer, or null. */
  get hoverTick() {
    return this.hover === null ? null : this.edge - this.hover * this.ticks;
  }

  update(tick, paused) {
    const edge = paused ? tick : tick - LAG_S * this.tick_hz;
    const step = STEP_S * this.tick_hz;
    this.edge = Math.max(0, reducedMotion() && !paused ? Math.floor(edge / step) * step : edge);
  }

  /** The seconds from a tick to the edge. */
  secondsAgo(tick) {
    return (this.edge - tick) / this.tick_hz;
  }
}
