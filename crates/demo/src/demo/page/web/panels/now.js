// The numbers of now, below the worlds, and the captions over them. They are means of the last second, for one to read them.

import { put, tenths, whole } from "../shared/format.js";

const few = (value) => (value >= 10 ? whole(value) : tenths(value));
const show = (id, words) => put(document.getElementById(id), words);

export function showNow(history, hello, timeline) {
  show("now-of", whole(hello.uncompressed_kbps));
  const last = history.samples.slice(-10);
  if (last.length === 0) return;
  const kbps = last.reduce((sum, sample) => sum + sample.total_kbps, 0) / last.length;
  show("now-kbps", whole(kbps));
  show("now-factor", kbps > 0 ? `${few(hello.uncompressed_kbps / kbps)}×` : "–");
  const median = last.reduce((sum, sample) => sum + sample.error_mm_p50, 0) / last.length;
  const largest = Math.max(...last.map((sample) => sample.error_mm_max));
  show("now-error", `${few(median)} / ${few(largest)}`);
  const packets = history.packets.slice(history.packetIndex(timeline.first));
  const lost = packets.filter((packet) => packet[2]).length;
  show("now-lost", packets.length > 0 ? tenths((100 * lost) / packets.length) : "–");
}

/** The player's keys on their way to the world: of the last second, or of all so far where nobody plays now. */
export function showInput(history, input) {
  if (!input) return ["bits", "full", "kbps", "recovered", "lost"].forEach((what) => show(`input-${what}`, "–"));
  const last = history.samples.slice(-10);
  const flowing = last.filter((sample) => sample.input_bits > 0);
  const mean = (samples, key) => samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;
  show("input-bits", tenths(flowing.length > 0 ? mean(flowing, "input_bits") : input.bits_per_packet.mean));
  show("input-full", whole(input.bits_per_packet.full));
  show("input-kbps", last.length > 0 ? tenths(mean(last, "input_kbps")) : "–");
  show("input-recovered", whole(input.recovered));
  show("input-lost", whole(input.lost));
}

/** Under the worlds' names: the tick, and how much later it is shown. */
export function showCaptions(world, tick_hz) {
  const delay_ms = ((world.tick - world.shownTick) / tick_hz) * 1000;
  show("caption-sent", `tick ${whole(world.tick)}`);
  show("caption-shown", Number.isFinite(delay_ms) ? `${whole(delay_ms)} ms later` : "");
  show("now-delay", Number.isFinite(delay_ms) ? whole(delay_ms) : "–");
}
