// Viewers of broadcasts. This file implements `crowd.d.ts` with the WebAssembly module.

import { Frame, FrameReader, INNER } from "./frame.js";
import { Loaded, named } from "./memory.js";
import initialize, * as module from "./module/crowd.js";
import { Session } from "./moq.js";

const CATALOGUE = "catalogue";
// If a group is later than this, the session gives it up.
const LATE_MS = 1000;
// If a relay sends nothing for this time, it counts as lost.
const SILENCE_MS = 2500;
const PATIENCE_MS = 10_000;
// The shortest and the longest pause between two attempts to connect. The pauses grow.
const PAUSES_MS = [200, 2000];
// The longest random addition to a pause. If all viewers reconnected at the same moment, they would
// overload the relay.
const SPREAD_MS = 500;
const NO_EVENTS = Object.freeze([]);

const loaded = new Loaded(initialize, new URL("module/crowd_bg.wasm", import.meta.url));

export const load = (source) => loaded.load(source);

export const memoryBytes = () => loaded.bytes;

export class Viewer {
  #viewer;
  #statNames;
  #reader;

  constructor(catalogue, options = {}) {
    loaded.check();
    const { historyS = 0, maxMemoryBytes, minDelayMs, maxDelayMs } = options;
    this.#viewer = new module.BroadcastViewer(
      catalogue, 1000 * historyS, maxMemoryBytes, minDelayMs, maxDelayMs,
    );
    this.#statNames = this.#viewer.stat_names();
    this.schema = JSON.parse(this.#viewer.schema());
    this.tickHz = this.#viewer.tick_hz();
    this.tiers = Object.freeze(JSON.parse(this.#viewer.tiers()));
    this.#reader = new FrameReader(this.schema.kinds);
  }

  watch(...tiers) {
    const numbers = tiers.map((tier) => this.tiers.indexOf(tier));
    const unknown = tiers[numbers.indexOf(-1)];
    if (tiers.length === 0 || unknown !== undefined) {
      const names = this.tiers.map((name) => JSON.stringify(name)).join(", ");
      throw new Error(`the broadcast has no tier ${JSON.stringify(unknown)}; it has ${names}`);
    }
    this.#viewer.watch(Uint32Array.from(numbers));
  }

  get shownTiers() {
    return Array.from(this.#viewer.shown_tiers(), (tier) => this.tiers[tier]);
  }

  wanted() {
    return Array.from(this.#viewer.wanted(), (track) => this.#viewer.track_name(track));
  }

  object(track, group, number, bytes, nowMs = performance.now()) {
    return this.#viewer.object(nowMs, this.#track(track), BigInt(group), BigInt(number), bytes);
  }

  datagram(track, bytes, nowMs = performance.now()) {
    return this.#viewer.datagram(nowMs, this.#track(track) >> 1, bytes);
  }

  rejoin() {
    this.#viewer.rejoin();
  }

  play(nowMs = performance.now()) {
    return this.#viewer.play(nowMs) ? this.#frame(false) : undefined;
  }

  playAt(tick, nowMs = performance.now()) {
    return this.#viewer.play_at(nowMs, tick) ? this.#frame(false) : undefined;
  }

  history() {
    const [first, last] = this.#viewer.history();
    return first === undefined ? undefined : { first, last };
  }

  newest() {
    return this.#viewer.take_newest() ? this.#frame(true) : undefined;
  }

  newestLanes() {
    return this.#viewer.newest_lanes();
  }

  setDelays(minMs, maxMs) {
    this.#viewer.set_delays(minMs, maxMs);
  }

  stats() {
    return named(this.#statNames, this.#viewer.stats());
  }

  [INNER]() {
    return { inner: this.#viewer, memory: loaded.memory };
  }

  free() {
    this.#viewer.free();
  }

  // The number of the track `name`, which must be one that the viewer wants.
  #track(name) {
    const track = this.#viewer.wanted().find((number) => this.#viewer.track_name(number) === name);
    if (track === undefined) throw new Error(`the track ${JSON.stringify(name)} is not wanted`);
    return track;
  }

  #frame(isNewest) {
    const [lists, kinds] =
      this.#reader.read(loaded.memory, this.#viewer.places(), !isNewest);
    const starved = !isNewest && this.#viewer.is_starved();
    return new Frame(this.#viewer.tick(), starved, lists, kinds, NO_EVENTS);
  }
}

export class Watching {
  #relay;
  #broadcast;
  #options;
  #tiers;
  #catalogue;
  #viewer;
  #session;
  // The functions that end the subscriptions, by track number.
  #tracks = new Map();
  #link = { connected: false, reason: undefined };
  #isClosed = false;
  #receivedBytes = 0;
  #missed = 0;
  // The time spent on objects and datagrams, in milliseconds.
  decodeMs = 0;

  constructor(address, options = {}) {
    loaded.check();
    const url = new URL(address);
    const slash = url.pathname.lastIndexOf("/");
    this.#broadcast = url.pathname.slice(slash + 1);
    if (url.protocol !== "https:" || this.#broadcast === "") {
      throw new Error(`${address} is not https://RELAY/…/BROADCAST`);
    }
    url.pathname = url.pathname.slice(0, slash);
    this.#relay = url.href;
    this.#options = options;
    this.#tiers = options.tiers ?? [];
    this.#run();
  }

  get link() {
    return this.#link;
  }

  get viewer() {
    return this.#viewer;
  }

  watch(...tiers) {
    this.#viewer?.watch(...tiers);
    this.#tiers = tiers;
    this.#subscribe();
  }

  get receivedBytes() {
    return this.#receivedBytes + (this.#session?.receivedBytes ?? 0);
  }

  get missed() {
    return this.#missed + (this.#session?.missed ?? 0);
  }

  close() {
    this.#isClosed = true;
    this.#session?.close();
    this.#viewer?.free();
    this.#viewer = undefined;
  }

  #tell(connected, reason) {
    this.#link = { connected, reason };
    this.#options.onLink?.(this.#link);
  }

  // Runs sessions, one after the other.
  async #run() {
    const pause = new Pause();
    while (!this.#isClosed) {
      const begin_ms = performance.now();
      const reason = await this.#oneSession().catch((error) => error.message);
      if (this.#isClosed) return;
      this.#tell(false, reason);
      if (performance.now() - begin_ms > PATIENCE_MS) pause.reset();
      await pause.wait();
    }
  }

  // Connects, and passes on all data that arrive. Returns the reason why the session ended.
  async #oneSession() {
    const { certificateHash, patienceMs = PATIENCE_MS } = this.#options;
    const session = await Session.connect(this.#relay, { certificateHash, patienceMs });
    if (this.#isClosed) {
      session.close();
      return "";
    }
    this.#session = session;
    this.#tell(true, undefined);
    const silence = setInterval(() => {
      const silent_ms = performance.now() - session.receivedMs;
      if (this.#tracks.size > 0 && silent_ms > SILENCE_MS) session.close("the relay is silent");
    }, SILENCE_MS / 4);
    this.#findBroadcast(session, patienceMs);
    const reason = await session.closed;
    clearInterval(silence);
    this.#receivedBytes += session.receivedBytes;
    this.#missed += session.missed;
    this.#session = undefined;
    this.#tracks.clear();
    return reason;
  }

  // Reads the catalogue. If there is no broadcast yet, or once it ends, tries again later. Gives up
  // a relay that sends neither the catalogue nor an end.
  async #findBroadcast(session, patienceMs) {
    const pause = new Pause();
    let late;
    session.closed.then(() => clearTimeout(late));
    for (;;) {
      let isFound = false;
      late = setTimeout(
        () => session.close(`the catalogue took longer than ${patienceMs} ms`), patienceMs,
      );
      await new Promise((resolve) => {
        session.subscribe({
          broadcast: this.#broadcast, track: CATALOGUE, maxAgeMs: LATE_MS,
          onObject: (group, number, bytes) => {
            if (isFound || number > 0n) return;
            isFound = true;
            clearTimeout(late);
            pause.reset();
            this.#begin(bytes);
          },
          onDatagram: () => {},
          onEnd: resolve,
        });
      });
      clearTimeout(late);
      if (this.#session !== session) return;
      for (const end of this.#tracks.values()) end();
      this.#tracks.clear();
      this.#tell(true, "the relay has no such broadcast now");
      await pause.wait();
      if (this.#session !== session) return;
    }
  }

  // Begins to read a broadcast. If the same broadcast was gone for a while, its viewer is kept.
  #begin(catalogue) {
    if (this.#viewer && isSame(this.#catalogue, catalogue)) {
      this.#viewer.rejoin();
    } else {
      let viewer;
      try {
        viewer = new Viewer(catalogue, this.#options);
        const tiers = this.#tiers.filter((tier) => viewer.tiers.includes(tier));
        viewer.watch(...(tiers.length > 0 ? tiers : [viewer.tiers[0]]));
      } catch (error) {
        viewer?.free();
        this.#tell(true, `the broadcast cannot be read: ${error.message}`);
        return;
      }
      this.#viewer?.free();
      this.#viewer = viewer;
      this.#catalogue = catalogue.slice();
    }
    this.#tell(true, undefined);
    this.#subscribe();
  }

  // Subscribes to the tracks that the viewer wants, and to no others.
  #subscribe() {
    const [session, viewer] = [this.#session, this.#viewer];
    if (!session || !viewer) return;
    const wanted = viewer.wanted();
    for (const [track, end] of this.#tracks) {
      if (!wanted.includes(track)) {
        this.#tracks.delete(track);
        end();
      }
    }
    for (const track of wanted) {
      if (this.#tracks.has(track)) continue;
      const isCurrent = () => viewer === this.#viewer && this.#tracks.has(track);
      const end = session.subscribe({
        broadcast: this.#broadcast, track, maxAgeMs: LATE_MS,
        onObject: (group, number, bytes) => {
          if (isCurrent()) this.#give(() => viewer.object(track, group, number, bytes));
        },
        onDatagram: (bytes) => {
          if (isCurrent()) this.#give(() => viewer.datagram(track, bytes));
        },
        onEnd: async () => {
          await sleep(LATE_MS);
          if (this.#tracks.get(track) !== end) return;
          this.#tracks.delete(track);
          this.#subscribe();
        },
      });
      this.#tracks.set(track, end);
    }
  }

  #give(call) {
    const begin_ms = performance.now();
    try {
      call();
    } catch (error) {
      // The viewer counts refused data. But a trap is a bug.
      if (error instanceof WebAssembly.RuntimeError) throw error;
    } finally {
      this.decodeMs += performance.now() - begin_ms;
    }
    this.#subscribe();
  }
}

// Waits for pauses that grow.
class Pause {
  #ms = PAUSES_MS[0];

  reset() {
    [this.#ms] = PAUSES_MS;
  }

  async wait() {
    await sleep(this.#ms + Math.random() * SPREAD_MS);
    this.#ms = Math.min(2 * this.#ms, PAUSES_MS[1]);
  }
}

function isSame(first, second) {
  return first.length === second.length && first.every((byte, at) => byte === second[at]);
}

function sleep(ms) {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}
