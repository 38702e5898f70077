// The world as this page receives it: a connection, a receiver that decodes and buffers, and the
// keys that the page sends.

import { connect } from "./kinepack/connection.js";
import { InputSender, Receiver, load, memoryBytes, splitDatagram } from "./kinepack/snapshots.js";
import { ask, bytesOf, checked, has, isObject } from "./shared/ask.js";

const KEYS = ["left", "right", "up", "down", "push", "pull"];
const FLUSH_MS = 4;

const isCodes = (codes) => isObject(codes) && has(codes, "string", "schema", "level");
const isInvitation = (of) => isObject(of) && has(of, "string", "program", "path", "certificate_hash", "level", "schema")
  && has(of, "number", "tick_hz", "key_rate_hz", "key_repeats", "first_guest", "bodies", "half_width_m", "cube_edge_m", "player_edge_m")
  && isCodes(of.events) && isCodes(of.keys) && Array.isArray(of.tokens) && of.tokens.length === 2;

/** Asks the server how to join. */
export async function invitation() {
  const answer = await (await ask("join")).json();
  if (typeof answer.error === "string") throw new Error(answer.error);
  return checked(answer, isInvitation(answer));
}

export class Joined {
  /** `webtransport` or `websocket`. */
  transport;
  #receiver;
  #inputs;
  #connection;
  #timer;
  #held = {};
  #loss_ratio = 0;
  #decode_ms = 0;
  #datagrams = 0;

  /**
   * Joins. `loss_ratio` of all datagrams are dropped here, in both directions, as a bad network would.
   * `onClose` is called with the reason when the connection ends.
   */
  static async join(of, transports, loss_ratio, onClose) {
    const [profile] = await Promise.all([ask("profile").then((answer) => answer.arrayBuffer()), load()]);
    const joined = new Joined();
    joined.#loss_ratio = loss_ratio;
    joined.#receiver = new Receiver({
      schema: bytesOf(of.schema), level: of.level, profile: new Uint8Array(profile), tickHz: of.tick_hz,
      events: { schema: bytesOf(of.events.schema), level: of.events.level },
    });
    joined.#inputs = new InputSender({
      schema: bytesOf(of.keys.schema), level: of.keys.level, rateHz: of.key_rate_hz, repeats: of.key_repeats,
    });
    const [first, second] = of.tokens;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    joined.#connection = await connect({
      webTransport: transports.includes("webtransport") ? `https://${location.host}${of.path}?token=${first}` : undefined,
      certificateHash: bytesOf(of.certificate_hash),
      webSocket: transports.includes("websocket") ? `${scheme}//${location.host}${of.path}?token=${second}` : undefined,
      onDatagram(datagram, connection) {
        // The first datagrams may arrive before the next line of this function runs.
        joined.#connection = connection;
        if (!joined.#isLost()) joined.#take(datagram);
      },
      onClose: (reason) => {
        clearInterval(joined.#timer);
        onClose(reason);
      },
    });
    joined.transport = joined.#connection.kind;
    // Acknowledgements must not wait for the next frame, or for a tab that is hidden.
    joined.#timer = setInterval(() => joined.#flush(), FLUSH_MS);
    joined.#flush();
    return joined;
  }

  /** The keys that are held, by name. */
  hold(names) {
    this.#held = Object.fromEntries(KEYS.map((key) => [key, names.has(key)]));
  }

  /** Sends the held keys, once a tick. */
  sendKeys() {
    this.#inputs.push({ ...Object.fromEntries(KEYS.map((key) => [key, false])), ...this.#held });
    const packet = this.#inputs.transmit();
    if (packet) this.#send(packet);
  }

  play() {
    return this.#receiver.play();
  }

  /** For tests: the tick of the newest state, and its integers. */
  lanes() {
    const newest = this.#receiver.newest();
    return newest ? [newest.tick, ...this.#receiver.newestLanes()] : null;
  }

  stats() {
    const decode_us = this.#datagrams > 0 ? (this.#decode_ms * 1e3) / this.#datagrams : 0;
    return { ...this.#receiver.stats(), decode_us, mismatch: this.#receiver.mismatch, memory_bytes: memoryBytes() };
  }

  close() {
    clearInterval(this.#timer);
    this.#connection.close();
    this.#receiver.free();
    this.#inputs.free();
  }

  #take(datagram) {
    try {
      for (const part of splitDatagram(datagram)) {
        if (part.for === "receiver") {
          const begin = performance.now();
          this.#receiver.handle(part.bytes);
          this.#decode_ms += performance.now() - begin;
          this.#datagrams += 1;
        } else if (part.for === "stream-sender") {
          this.#inputs.handle(part.bytes);
        }
      }
    } catch (error) {
      // The receiver counts what it refuses, such as duplicates. A trap is a bug.
      if (error instanceof WebAssembly.RuntimeError) throw error;
    }
    this.#flush();
  }

  #flush() {
    for (let datagram = this.#receiver.transmit(); datagram; datagram = this.#receiver.transmit()) {
      this.#send(datagram);
    }
  }

  #send(datagram) {
    if (!this.#isLost()) this.#connection.send(datagram);
  }

  #isLost() {
    return Math.random() < this.#loss_ratio;
  }
}
