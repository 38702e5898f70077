// Bandwidth, stacked by part, with the goal's line and the sum of now beside its end.

import { LinearScale } from "../shared/scale.js";
import { colours } from "../shared/theme.js";

/** From the bottom up: the field of a sample, and its colour. */
const PARTS = [
  ["headers_kbps", "part-headers"], ["sets_kbps", "part-sets"], ["position_kbps", "part-position"],
  ["orientation_kbps", "part-orientation"], ["others_kbps", "part-others"],
];
/** More ticks than this between two samples are a gap: a pause of the page. */
const GAP_TICKS = 18;

export class StackChart {
  goal_kbps = 256;
  scale = new LinearScale(300);

  peak({ samples }) {
    return samples.reduce((peak, sample) => Math.max(peak, sample.total_kbps), this.goal_kbps);
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
    const last = chart.samples.at(-1);
    if (!last) return;
    chart.context.font = `600 ${13 * chart.ratio}px system-ui, sans-serif`;
    const y = Math.max(chart.top + 6 * chart.ratio, Math.min(chart.bottom - 6 * chart.ratio, chart.y(last.total_kbps)));
    chart.text(Math.round(last.total_kbps).toLocaleString("en"), chart.right + 5 * chart.ratio, y, "left", "text");
    chart.context.font = `${11 * chart.ratio}px system-ui, sans-serif`;
  }

  #goal(chart) {
    const { context, ratio } = chart;
    const y = chart.y(this.goal_kbps);
    context.strokeStyle = colours.css.text;
    context.setLineDash([5 * ratio, 4 * ratio]);
    chart.rule(chart.left, y, chart.right, y);
    context.setLineDash([]);
    const words = `goal ${this.goal_kbps} kbit/s`;
    // Its own ground, for the areas may reach behind it.
    context.fillStyle = colours.css.panel;
    context.fillRect(chart.left + 4 * ratio, y - 16 * ratio, context.measureText(words).width + 8 * ratio, 14 * ratio);
    chart.text(words, chart.left + 8 * ratio, y - 9 * ratio, "left", "text");
  }
}

/** The samples in runs without a gap. */
export function runs(samples) {
  const all = [];
  for (const sample of samples) {
    const run = all.at(-1);
    if (run && sample.tick - run.at(-1).tick <= GAP_TICKS) run.push(sample);
    else all.push([sample]);
  }
  return all;
}
