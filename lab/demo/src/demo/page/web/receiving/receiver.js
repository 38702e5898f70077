// This page's own receiver: it decodes, buffers and interpolates what arrives through the simulated link,
// counts the bits of each body, and answers the program's hub.

import initialize, { CountingReceiver } from "../module/demo.js";
import { loader, named } from "../memory.js";
import { ask, bytesOf } from "../shared/ask.js";
import { Clock } from "./clock.js";
import { Columns, heatOf } from "./columns.js";

const load = loader(initialize, new URL("../module/demo_bg.wasm", import.meta.url));
const WITHOUT = { round_trip_ms: null, playout_ms: null, baseline_ticks: NaN };

export class PageReceiver {
  #hello = null;
  #memory = null;
  #profile = null;
  #receiver = null;
  #lookNames = "";
  #statNames = "";
  #connection = null;
  #columns = null;
  #hasState = false;
  #delays = [];
  #clock = new Clock();

  /** Prepares for the program's world. Until this is done, datagrams are lost. Throws if there is no WebAssembly. */
  async begin(hello) {
    this.#forget();
    this.#hello = null;
    this.#memory = await load();
    this.#profile = new Uint8Array(await (await ask("profile")).arrayBuffer());
    this.#hello = hello;
  }

  /** Takes the datagrams of a tick. Returns the datagrams of the answer, or null. */
  take({ connection, row, delays, time_s, datagrams }, now_ms) {
    this.#clock.tell(time_s, now_ms);
    if (!this.#hello) return null;
    if (connection !== this.#connection) this.#connect(connection, row);
    if (delays.join() !== this.#delays.join()) {
      this.#receiver.set_delays(...delays);
      this.#delays = delays;
    }
    for (const [at_s, datagram] of datagrams) this.#receiver.handle(1000 * at_s, datagram);
    return this.#answers(1000 * time_s);
  }

  /** The bodies to show now, their tick, and how long ago the simulation was there. Null before the first state. */
  play(now_ms) {
    const time_s = this.#clock.read(now_ms);
    if (!this.#receiver?.play(1000 * time_s)) return null;
    const tick = this.#receiver.tick();
    this.#hasState = true;
    return { tick, delay_ms: 1000 * (time_s - tick / this.#hello.tick_hz), bodies: this.#columns.read(this.#receiver.places()) };
  }

  /** The recent bits a tick of each body. */
  get heat() {
    return this.#receiver ? heatOf(this.#memory, this.#receiver) : [];
  }

  /** One body in the newest tick: what it cost, its lanes, and those of the baseline. Null before the first state. */
  look(id) {
    if (!this.#receiver) return null;
    const [known, baseline] = [this.#receiver.known_lanes(id), this.#receiver.baseline_lanes(id)];
    return known || baseline ? { ...named(this.#lookNames, this.#receiver.look(id)), known, baseline } : null;
  }

  /** The measured delays or null, and the ticks from the newest baseline to the newest state. */
  measured(now_ms) {
    if (!this.#hasState) return WITHOUT;
    const stats = named(this.#statNames, this.#receiver.stats(1000 * this.#clock.read(now_ms)));
    return { ...stats, round_trip_ms: Number.isFinite(stats.round_trip_ms) ? stats.round_trip_ms : null };
  }

  #connect(connection, row) {
    this.#forget();
    const { schema, events, levels, tick_hz } = this.#hello;
    const level = levels.find((level) => level.row === row)?.name ?? "";
    const receiver = new CountingReceiver(bytesOf(schema), level, this.#profile, tick_hz);
    this.#receiver = receiver.with_events(bytesOf(events.schema), events.level);
    this.#lookNames = this.#receiver.look_names();
    this.#statNames = this.#receiver.stat_names();
    this.#columns = new Columns(JSON.parse(this.#receiver.schema()), this.#memory);
    this.#connection = connection;
  }

  #forget() {
    this.#receiver?.free();
    this.#receiver = null;
    this.#hasState = false;
    this.#connection = null;
    this.#delays = [];
  }

  #answers(now_ms) {
    const answers = [];
    for (let datagram = this.#receiver.poll_transmit(now_ms); datagram; datagram = this.#receiver.poll_transmit(now_ms)) answers.push(datagram);
    if (answers.length === 0) return null;
    const message = new DataView(new ArrayBuffer(answers.reduce((sum, { length }) => sum + 2 + length, 4)));
    message.setUint32(0, this.#connection, true);
    let at = 4;
    for (const datagram of answers) {
      message.setUint16(at, datagram.length, true);
      new Uint8Array(message.buffer).set(datagram, at + 2);
      at += 2 + datagram.length;
    }
    return message.buffer;
  }
}
