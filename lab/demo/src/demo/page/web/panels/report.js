// The session as a table. Each cell also has the program's number for scripts, in `data-key` and
// `data-value`.

import { precise, tenths, whole } from "../shared/format.js";

const kbps = (value) => `${tenths(value)} kbit/s`;
const ms = (value) => `${tenths(value)} ms`;
const percent = (value) => `${(value * 100).toFixed(2)} %`;
const seconds = (value) => {
  const minutes = Math.floor(value / 60);
  return minutes > 0 ? `${minutes} min ${Math.floor(value % 60)} s` : `${tenths(value)} s`;
};
const text = String;

/** Groups of rows. A row has a name, and its cells as pairs of key and formatter. */
const GROUPS = [
  [
    ["time", ["seconds", seconds]],
    ["bandwidth without headers", ["kbps_payload", kbps]],
    ["with IP and UDP headers", ["kbps_total", kbps]],
    ["from the receiver, with headers", ["kbps_upstream", kbps]],
    ["packets sent", ["frames_sent", whole]],
    ["blocks received", ["blocks", whole]],
  ],
  [
    ["snapshots received", ["frames_received", whole]],
    ["of these, with skipped changes", ["frames_with_left_out", whole]],
    ["packet loss", ["loss_ratio", percent]],
    ["round trip", ["round_trip_ms", ms]],
    ["baseline age, in packets", ["baseline_age", tenths]],
    ["state checks received / failed", ["state_checks", whole], ["failed_checks", whole]],
    ["lanes that differ from those sent", ["wrong_lanes", whole]],
  ],
  [
    ["frames shown", ["states_shown", whole]],
    ["playout delay", ["playout_delay_ms", ms]],
    ["time stalled", ["starved_ratio", percent]],
    ["events shown / late", ["events", whole], ["late_events", whole]],
    ["position error: median / p99 / largest", ["shown_error_mm.p50", precise], ["shown_error_mm.p99", precise], ["shown_error_mm.max", (value) => `${precise(value)} mm`]],
    ["rotation error: median / p99 / largest", ["shown_error_deg.p50", precise], ["shown_error_deg.p99", precise], ["shown_error_deg.max", (value) => `${precise(value)}°`]],
    ["your keys: bits a packet / without baseline", ["input.bits_per_packet.mean", tenths], ["input.bits_per_packet.full", whole]],
    ["their bandwidth without / with headers", ["input.kbps_payload", tenths], ["input.kbps_with_headers", kbps]],
    ["keys sent: ticks / packets", ["input.records", whole], ["input.packets", whole]],
    ["received / by repeats / lost / wrong", ["input.received", whole], ["input.recovered", whole], ["input.lost", whole], ["input.wrong", whole]],
  ],
  [
    ["world", ["world", text]],
    ["link", ["link", text]],
    ["sending", ["sending", text]],
  ],
];

export class Report {
  #cells = [];

  constructor(table) {
    for (const group of GROUPS) {
      const body = table.createTBody();
      for (const [name, ...cells] of group) {
        const row = body.insertRow();
        const head = document.createElement("th");
        head.scope = "row";
        head.textContent = name;
        row.append(head);
        for (const [key, write] of cells) {
          const cell = row.insertCell();
          cell.dataset.key = key;
          this.#cells.push({ cell, path: key.split("."), write });
        }
      }
    }
  }

  show(report) {
    for (const { cell, path, write } of this.#cells) {
      const value = path.reduce((inner, key) => inner?.[key], report);
      const raw = value == null ? "" : String(value);
      if (cell.dataset.value === raw) continue;
      cell.dataset.value = raw;
      cell.textContent = write === text || Number.isFinite(value) ? (raw && write(value)) : "–";
    }
  }
}
