// The largest error of all joints over time, and the clip's precision.

import { TimePlot } from "./time_plot.js";
import { LinearScale } from "../shared/scale.js";
import { colours } from "../shared/theme.js";

export class ErrorCurve extends TimePlot {
  #motion = null;
  #precision_cm = 0;

  begin(motion, { duration_s, precision_cm }) {
    this.#motion = motion;
    this.#precision_cm = precision_cm;
    this.duration_s = duration_s;
    this.scale = new LinearScale(precision_cm * 1.3 || 1);
    this.scale.fit(motion.maxima.reduce((a, b) => Math.max(a, b), 0), 0);
    this.stale();
  }

  paint() {
    const { context, ratio } = this;
    context.strokeStyle = colours.css.muted;
    context.setLineDash([5 * ratio, 4 * ratio]);
    const y = Math.round(this.y(this.#precision_cm));
    this.rule(this.left, y, this.right, y);
    context.setLineDash([]);
    context.strokeStyle = colours.css["line-largest"];
    context.lineWidth = 1.5 * ratio;
    const motion = this.#motion;
    this.curve(motion.count, (index) => motion.time(index), (index) => motion.maxima[index], true);
  }
}
