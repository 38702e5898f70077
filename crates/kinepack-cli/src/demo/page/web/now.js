// The numbers of now, below the worlds, and the captions over them. They are means of the last second, for one to read them.

const whole = (value) => Math.round(value).toLocaleString("en");
const few = (value) => (value >= 10 ? whole(value) : value.toFixed(1));

const put = (id, words) => {
  const element = document.getElementById(id);
  if (element.textContent !== words) element.textContent = words;
};

export function showNow(history, hello, timeline) {
  put("now-of", `of uncompressed ${whole(hello.uncompressed_kbps)} kbit/s`);
  const last = history.samples.slice(-10);
  if (last.length === 0) return;
  const kbps = last.reduce((sum, sample) => sum + sample.total_kbps, 0) / last.length;
  put("now-kbps", whole(kbps));
  put("now-factor", kbps > 0 ? `${few(hello.uncompressed_kbps / kbps)}×` : "–");
  const median = last.reduce((sum, sample) => sum + sample.error_mm_p50, 0) / last.length;
  const largest = Math.max(...last.map((sample) => sample.error_mm_max));
  put("now-error", `${few(median)}, ${few(largest)}`);
  const packets = history.packets.slice(history.packetIndex(timeline.first));
  const lost = packets.filter((packet) => packet[2]).length;
  put("now-lost", packets.length > 0 ? ((100 * lost) / packets.length).toFixed(1) : "–");
}

/** Under the worlds' names: the tick, and how much later it is shown. */
export function showCaptions(world, tick_hz) {
  const delay_ms = ((world.tick - world.shownTick) / tick_hz) * 1000;
  put("caption-sent", `tick ${whole(world.tick)}`);
  put("caption-shown", Number.isFinite(delay_ms) ? `${whole(delay_ms)} ms later` : "");
  put("now-delay", Number.isFinite(delay_ms) ? whole(delay_ms) : "–");
}
