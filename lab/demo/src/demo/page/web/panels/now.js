// The numbers next to the worlds, and the captions over the worlds. A world at rest takes a
// hundredth of the bandwidth of one in motion. So the headline numbers are means over a window that
// contains both rest and motion. They are shown once the window is full.

import { covers, lastSecond, lastSeconds } from "../charts/history.js";
import { CUBE_BITS, CUBE_BITS_WITH_HEADERS } from "../worlds/uncompressed.js";
import { put, tenths, whole } from "../shared/format.js";

/** The length of the window of the headline numbers. The page's labels name it too. */
export const WINDOW_S = 10;

const few = (value) => (value >= 10 ? whole(value) : tenths(value));
const show = (id, words) => put(document.getElementById(id), words);

/** Used by the views and the numbers: bandwidth of the last second, and the share of packets lost in the last 20 s. */
export function measured(history, timeline) {
  const packets = history.packets.slice(history.packetIndex(timeline.first));
  const lost = packets.filter((packet) => packet[2]).length;
  const loss_ratio = packets.length > 0 ? lost / packets.length : null;
  return { kbps: lastSecond(history.samples, "total_kbps"), loss_ratio, lost, sent: packets.length };
}

/** The headline numbers: means of the window, or null before it is full. `uncompressed_kbps` is at the rate of snapshots. */
export function headline(samples, uncompressed_kbps) {
  const of = (field) => (covers(samples, WINDOW_S) ? lastSeconds(samples, field, WINDOW_S) : null);
  const kbps = of("total_kbps");
  return { kbps, factor: kbps > 0 ? uncompressed_kbps / kbps : null, median_mm: of("error_mm_p50"), largest_mm: of("error_mm_max") };
}

/** `send_hz` is the rate of snapshots. The uncompressed world is counted at the same rate. */
export function showNow(history, hello, { loss_ratio, lost, sent }, send_hz) {
  const uncompressed_kbps = (hello.uncompressed_kbps * send_hz) / hello.tick_hz;
  show("now-of", whole(uncompressed_kbps));
  show("now-rate", whole(send_hz));
  const { kbps, factor, median_mm, largest_mm } = headline(history.samples, uncompressed_kbps);
  const or_dash = (value, write) => (value === null ? "–" : write(value));
  show("now-kbps", or_dash(kbps, whole));
  show("now-factor", or_dash(factor, (value) => `${few(value)}×`));
  show("now-error", largest_mm === null ? "–" : `${or_dash(median_mm, few)} / ${few(largest_mm)}`);
  show("now-lost", loss_ratio === null ? "–" : tenths(100 * loss_ratio));
  show("now-packets", `${whole(lost)} of ${whole(sent)} packets`);
}

/** The player's keys as sent to the server: in the last second, or over the whole connection if none are sent now. */
export function showInput(history, input) {
  if (!input) return ["bits", "full", "kbps", "recovered", "lost"].forEach((what) => show(`input-${what}`, "–"));
  const flowing = history.samples.slice(-10).filter((sample) => sample.input_bits > 0);
  show("input-bits", tenths(lastSecond(flowing, "input_bits") ?? input.bits_per_packet.mean));
  show("input-full", whole(input.bits_per_packet.full));
  const kbps = lastSecond(history.samples, "input_kbps");
  show("input-kbps", kbps === null ? "–" : tenths(kbps));
  show("input-recovered", whole(input.recovered));
  show("input-lost", whole(input.lost));
}

/** The captions after the worlds' names: the tick, the delay, and the content of the third view. */
export function showCaptions(world, delay_ms, hello, send_hz, uncompressed, kbps) {
  show("caption-sent", `tick ${whole(world.tick)}`);
  show("caption-shown", Number.isFinite(delay_ms) ? `${whole(send_hz)} a second, decoded in this page` : "");
  show("now-delay", Number.isFinite(delay_ms) ? whole(delay_ms) : "–");
  const isWhole = uncompressed.mode === "whole";
  const rate = uncompressed.rate_hz;
  show("caption-uncompressed", !rate ? "" : isWhole ? interval(rate, "a snapshot") : `moving cubes at ${few(rate)} Hz`);
  show("uncompressed-about", uncompressed.mode === "none" || kbps === null ? "" : about(isWhole, hello, kbps));
}

const interval = (rate_hz, what) => (rate_hz >= 1 ? `${what} ${tenths(rate_hz)} times a second` : `${what} every ${tenths(1 / rate_hz)} s`);

/** Describes the third view. */
function about(isWhole, hello, kbps) {
  const bytes = Math.ceil((hello.bodies * CUBE_BITS) / 8);
  const what = isWhole
    ? `A snapshot of ${whole(hello.bodies)} cubes at ${CUBE_BITS} bits takes ${whole(bytes / 1000)} kB, so one is sent as soon as the bandwidth has paid for it.`
    : `A cube takes ${CUBE_BITS} bits, so ${whole((1000 * kbps) / CUBE_BITS_WITH_HEADERS)} cubes a second are sent: those that moved since their last update, in turn.`;
  return `Uncompressed view: the same world, sent without compression over the same link, at the ${whole(kbps)} kbit/s that Kinepack uses now. ${what}`
    + " It has the delay and the packet loss of the Kinepack view; nothing is interpolated. This page computes it from the true world.";
}
