// The charts, their legends, and their text for screen readers. A legend shows the means of the
// last second, or the values at the pointer.

import { BarsChart } from "./chart_bars.js";
import { Chart } from "./chart.js";
import { LinesChart } from "./chart_lines.js";
import { StackChart } from "./chart_stack.js";
import { precise, put, whole } from "../shared/format.js";
import { lastSecond } from "./history.js";
import { LinearScale, LogScale } from "../shared/scale.js";
import { Timeline } from "./timeline.js";

const LEGEND_WAIT_MS = 100;
const SPOKEN_WAIT_MS = 1000;

const WRITERS = { kbps: whole, packets: whole, link: whole, queue: whole, mm: precise, degrees: precise, delay: whole };
const UNITS = { kbps: "kbit/s", packets: "", link: "kbit/s", queue: "ms", mm: "mm", degrees: "degrees", delay: "ms" };

export class Charts {
  timeline = new Timeline();
  #history;
  #stack = new StackChart();
  #charts;
  #legends;
  #legends_at_ms = -Infinity;
  #spoken_at_ms = -Infinity;
  #hover = null;

  constructor(history) {
    this.#history = history;
    const pair = (fields) => [[fields[0], "line-largest", 1.25], [fields[1], "line-median", 2.5]];
    const kinds = {
      kbps: this.#stack,
      packets: new BarsChart(),
      link: new LinesChart(new LinearScale(20), pair(["budget_kbps", "total_kbps"])),
      queue: new LinesChart(new LinearScale(60), [["queue_ms", "line-median", 2.5]]),
      mm: new LinesChart(new LogScale(0.1, 3), pair(["error_mm_max", "error_mm_p50"])),
      degrees: new LinesChart(new LogScale(0.01, 3), pair(["error_deg_max", "error_deg_p50"])),
      delay: new LinesChart(new LinearScale(60), pair(["playout_ms", "round_trip_ms"])),
    };
    this.#charts = Object.entries(kinds).map(([name, kind]) => {
      const wide = name === "kbps" || name === "packets";
      return new Chart(document.getElementById(`chart-${name}`), this.timeline, history, kind, wide ? 44 : 12);
    });
    this.#legends = Object.keys(kinds).map((name) => ({
      canvas: document.getElementById(`chart-${name}`),
      title: document.getElementById(`chart-${name}`).getAttribute("aria-label"),
      write: WRITERS[name],
      unit: UNITS[name],
      values: [...document.querySelectorAll(`[data-chart=${name}] [data-series]`)],
    }));
  }

  begin(hello) {
    this.timeline.tick_hz = hello.tick_hz;
    this.#stack.goal_kbps = hello.goal_kbps;
  }

  draw(now_ms) {
    for (const chart of this.#charts) chart.draw(now_ms);
    if (now_ms - this.#legends_at_ms >= LEGEND_WAIT_MS || this.#hover !== this.timeline.hover) {
      this.#legends_at_ms = now_ms;
      this.#hover = this.timeline.hover;
      this.#showValues();
    }
    if (now_ms - this.#spoken_at_ms >= SPOKEN_WAIT_MS) {
      this.#spoken_at_ms = now_ms;
      this.#speak();
    }
  }

  #showValues() {
    const { hoverTick } = this.timeline;
    const sample = hoverTick === null ? null : this.#history.sampleAt(hoverTick);
    const value_of = (series) => (hoverTick === null ? lastSecond(this.#history.samples, series) : sample?.[series]);
    const packets = this.#packetValues(hoverTick);
    this.#sayGoal();
    document.getElementById("budget-legend").hidden = !Number.isFinite(value_of("budget_kbps"));
    for (const { write, values: cells } of this.#legends) {
      for (const cell of cells) {
        const value = packets[cell.dataset.series] ?? value_of(cell.dataset.series);
        put(cell, Number.isFinite(value) ? write(value) : "–");
      }
    }
  }

  /** Without a pointer, how many visible packets arrived and were lost. Otherwise the bytes of the packet at the pointer, in its column. */
  #packetValues(hoverTick) {
    const { packets } = this.#history;
    if (hoverTick !== null) {
      const packet = packets[this.#history.packetIndex(Math.round(hoverTick))];
      if (!packet || packet[0] - hoverTick > 12) return {};
      return packet[2] ? { lost: packet[1] } : { arrived: packet[1] };
    }
    const seen = packets.slice(this.#history.packetIndex(this.timeline.first));
    const lost = seen.filter((packet) => packet[2]).length;
    return { arrived: seen.length - lost, lost };
  }

  #sayGoal() {
    const { goal_kbps, has_goal } = this.#stack;
    const words = `${whole(goal_kbps)} kbit/s: the goal that Glenn Fiedler’s article “Snapshot Compression” (2015) sets for this world`;
    put(document.getElementById("goal"), has_goal ? words : `${words}; above this chart now`);
  }

  #speak() {
    for (const { canvas, title, unit, values } of this.#legends) {
      const words = values.filter((cell) => !cell.parentElement.hidden).map((cell) => `${cell.parentElement.textContent.replace("×", "").trim()} ${unit}`.trim());
      canvas.setAttribute("aria-label", `${title}: ${words.join(", ")}`);
    }
  }
}
