// Bandwidth, stacked by part. The goal is a line if it is in range. The total of the last second is
// beside the right end.

import { LinearScale } from "../shared/scale.js";
import { colours } from "../shared/theme.js";
import { lastSecond } from "./history.js";
import { whole } from "../shared/format.js";

/** From the bottom up: the field of a sample and its colour. */
const PARTS = [
  ["headers_kbps", "part-headers"], ["sets_kbps", "part-sets"], ["position_kbps", "part-position"],
  ["orientation_kbps", "part-orientation"], ["others_kbps", "part-others"],
];
/** More ticks than this between two samples are a gap, because the page was paused. */
const GAP_TICKS = 18;
/** The goal is in range if the peak exceeds this share of it. */
const NEAR_GOAL = 0.4;

export class StackChart {
  goal_kbps = 256;
  scale = new LinearScale(20);
  /** Whether the goal is on the chart. */
  has_goal = false;

  peak({ samples }) {
    const peak = samples.reduce((most, sample) => Math.max(most, sample.total_kbps), 0);
    this.has_goal = peak > NEAR_GOAL * this.goal_kbps;
    return this.has_goal ? Math.max(peak, this.goal_kbps) : peak;
  }

  paint(chart) {
    const { context, samples } = chart;
    for (const run of runs(samples)) {
      let below = run.map(() => 0);
      for (const [field, colour] of PARTS) {
        const above = run.map((sample, index) => below[index] + sample[field]);
        context.beginPath();
        run.forEach((sample, index) => context.lineTo(chart.x(sample.tick), chart.y(above[index])));
        for (let index = run.length - 1; index >= 0; index -= 1) context.lineTo(chart.x(run[index].tick), chart.y(below[index]));
        context.fillStyle = colours.css[colour];
        context.fill();
        below = above;
      }
    }
    this.#goal(chart);
  }

  label(chart) {
    const last = lastSecond(chart.all.samples, "total_kbps");
    if (last === null) return;
    chart.context.font = `600 ${13 * chart.ratio}px system-ui, sans-serif`;
    const y = Math.max(chart.top + 6 * chart.ratio, Math.min(chart.bottom - 6 * chart.ratio, chart.y(last)));
    chart.text(whole(last), chart.right + 5 * chart.ratio, y, "left", "text");
    chart.plain();
  }

  #goal(chart) {
    if (!this.has_goal) return;
    const { context, ratio } = chart;
    const y = chart.y(this.goal_kbps);
    context.strokeStyle = colours.css.text;
    context.setLineDash([5 * ratio, 4 * ratio]);
    chart.rule(chart.left, y, chart.right, y);
    context.setLineDash([]);
  }
}

/** Splits the samples at gaps. */
export function runs(samples) {
  const all = [];
  for (const sample of samples) {
    const run = all.at(-1);
    if (run && sample.tick - run.at(-1).tick <= GAP_TICKS) run.push(sample);
    else all.push([sample]);
  }
  return all;
}
