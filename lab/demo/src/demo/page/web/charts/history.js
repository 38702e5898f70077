// The last minute: samples and packets by tick, for the charts and the current numbers.

const KEPT_S = 60;
/** The program takes a sample every 6 ticks, at 60 ticks per second. */
const SAMPLES_A_SECOND = 10;
const PACKETS_MAX = 20_000;

export class History {
  samples = [];
  packets = [];
  /** Counts the changes, so that a chart can detect new data. */
  version = 0;

  clear() {
    this.samples = [];
    this.packets = [];
    this.version += 1;
  }

  add(samples, packets, tick_hz) {
    if (samples.length === 0 && packets.length === 0) return;
    for (const sample of samples) {
      const { headers_kbps, sets_kbps, position_kbps, orientation_kbps, others_kbps } = sample;
      sample.total_kbps = headers_kbps + sets_kbps + position_kbps + orientation_kbps + others_kbps;
      this.samples.push(sample);
    }
    for (const packet of packets) this.packets.push(packet);
    const newest = Math.max(this.samples.at(-1)?.tick ?? 0, this.packets.at(-1)?.[0] ?? 0);
    const oldest = newest - KEPT_S * tick_hz;
    this.packets.splice(0, Math.max(this.packetIndex(oldest), this.packets.length - PACKETS_MAX));
    this.samples.splice(0, this.sampleIndex(oldest));
    this.version += 1;
  }

  /** Index of the first sample at or after the tick. */
  sampleIndex(tick) {
    return firstIndex(this.samples, (sample) => sample.tick >= tick);
  }

  packetIndex(tick) {
    return firstIndex(this.packets, (packet) => packet[0] >= tick);
  }

  /** The sample nearest to the tick, if there is one near it. */
  sampleAt(tick) {
    const after = this.sampleIndex(tick);
    const near = [this.samples[after - 1], this.samples[after]].filter(Boolean);
    near.sort((a, b) => Math.abs(a.tick - tick) - Math.abs(b.tick - tick));
    return near[0] && Math.abs(near[0].tick - tick) <= 12 ? near[0] : null;
  }
}

/** The field's mean over the last seconds, or its maximum if the field is a maximum. Null if it was not measured then. */
export function lastSeconds(samples, field, seconds) {
  const last = samples.slice(-SAMPLES_A_SECOND * seconds).map((sample) => sample[field]).filter(Number.isFinite);
  if (last.length === 0) return null;
  return field.endsWith("_max") ? Math.max(...last) : last.reduce((sum, value) => sum + value, 0) / last.length;
}

export const lastSecond = (samples, field) => lastSeconds(samples, field, 1);

/** Whether the samples since the connection began cover this many seconds. */
export const covers = (samples, seconds) => samples.length >= SAMPLES_A_SECOND * seconds;

function firstIndex(items, reached) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reached(items[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
