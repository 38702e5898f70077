// Media over QUIC: a session with a relay over WebTransport, for clients that only subscribe. The
// protocol is moq-lite, version 6.

import { openTransport, within } from "./connection.js";

const PROTOCOL = "moq-lite-06";
// Types of unidirectional streams, and of the messages that begin a bidirectional stream.
const GROUP = 0n;
const SETUP = 1;
const SUBSCRIBE = 2;
// A parameter of SETUP, and its value, which means that this side only subscribes.
const ROLE = 3;
const SUBSCRIBER = 2;
// The largest object that a session reads. A viewer refuses even smaller objects.
const MAX_OBJECT_BYTES = 4n << 20n;
const MAX_HEADER_BYTES = 64n;
const NOTHING = new Uint8Array();

// Encodes a number as QUIC does.
function varint(number) {
  const bytes = number < 0x40 ? 1 : number < 0x4000 ? 2 : number < 0x40000000 ? 4 : 8;
  const [out, log] = [new Uint8Array(bytes), Math.log2(bytes)];
  let rest = BigInt(number);
  for (let at = bytes - 1; at >= 0; at -= 1, rest >>= 8n) out[at] = Number(rest & 255n);
  out[0] |= log << 6;
  return out;
}

// The length of an encoded number, given its first byte.
const lengthOf = (first) => 1 << (first >> 6);

function numberOf([first, ...rest]) {
  return rest.reduce((number, byte) => (number << 8n) | BigInt(byte), BigInt(first & 63));
}

function joined(parts) {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function sized(bytes) {
  return joined([varint(bytes.length), bytes]);
}

const text = (string) => sized(new TextEncoder().encode(string));

// Reads numbers and bytes from a stream whose pieces may have any length.
class Reader {
  #reader;
  #count;
  #chunk = NOTHING;

  constructor(stream, count) {
    this.#reader = stream.getReader();
    this.#count = count;
  }

  async isAtEnd() {
    while (this.#chunk.length === 0) {
      const { value, done } = await this.#reader.read();
      if (done) return true;
      this.#count(value.length);
      this.#chunk = value;
    }
    return false;
  }

  async take(length) {
    const parts = [];
    for (let missing = length; missing > 0;) {
      if (await this.isAtEnd()) throw new Error("a stream ended too early");
      const part = this.#chunk.subarray(0, missing);
      this.#chunk = this.#chunk.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? parts[0] : joined(parts);
  }

  async varint() {
    const first = await this.take(1);
    return numberOf(joined([first, await this.take(lengthOf(first[0]) - 1)]));
  }

  async sized(most) {
    const size = await this.varint();
    if (size > most) throw new Error("a message is too large");
    return this.take(Number(size));
  }

  // Reads to the end of the stream, and discards the data.
  async drain() {
    while (!(await this.isAtEnd())) this.#chunk = NOTHING;
  }

  cancel() {
    this.#reader.cancel().catch(() => {});
  }
}

// Reads the numbers at the beginning of a message, and its remaining bytes.
function split(bytes, count) {
  const numbers = [];
  let at = 0;
  while (numbers.length < count) {
    const length = lengthOf(bytes[at]);
    // An empty message fails here too.
    if (!(at + length <= bytes.length)) throw new Error("a message is too short");
    numbers.push(numberOf(bytes.subarray(at, at + length)));
    at += length;
  }
  return [...numbers, bytes.subarray(at)];
}

async function sendSetup(transport) {
  const setup = (await transport.createUnidirectionalStream()).getWriter();
  const role = [varint(ROLE), sized(varint(SUBSCRIBER))];
  await setup.write(joined([varint(SETUP), sized(joined([varint(1), ...role]))]));
  // The relay may stop the stream once it has read the message.
  setup.close().catch(() => {});
}

export class Session {
  // The number of received bytes, without the headers of QUIC.
  receivedBytes = 0;
  // The time at which the last data arrived, as `performance.now()`.
  receivedMs = performance.now();
  // The number of tracks, groups and datagrams that could not be read completely.
  missed = 0;
  // A promise that resolves with the reason when the session ends.
  closed;
  #transport;
  #end;
  #isOpen = true;
  // The subscriptions, by id.
  #subscriptions = new Map();
  #next = 0n;

  constructor(transport) {
    this.#transport = transport;
    this.closed = new Promise((resolve) => {
      this.#end = (reason) => {
        this.#isOpen = false;
        resolve(reason);
      };
    });
    transport.closed.then(
      ({ reason }) => this.#end(reason || "the relay closed the connection"),
      (error) => this.#end(error.message),
    );
  }

  // Connects to a relay. Rejects with the reason.
  static async connect(url, { certificateHash, patienceMs }) {
    const transport = await openTransport(url, certificateHash, patienceMs, {
      protocols: [PROTOCOL],
    });
    const session = new Session(transport);
    try {
      if (transport.protocol !== PROTOCOL) throw new Error(`the relay does not speak ${PROTOCOL}`);
      await within(sendSetup(transport), patienceMs, "the beginning of the session");
    } catch (error) {
      transport.close();
      throw error;
    }
    session.#accept(transport.incomingUnidirectionalStreams, (stream) => session.#read(stream));
    session.#accept(transport.datagrams.readable, (datagram) => session.#take(datagram));
    return session;
  }

  // Subscribes to a track. Calls `onObject` with the group, the number and the bytes of each
  // object, and `onDatagram` with the bytes of each datagram. Calls `onEnd` once if the relay ends
  // the subscription. Returns a function that ends the subscription from this side.
  subscribe({ broadcast, track, maxAgeMs, onObject, onDatagram, onEnd }) {
    const id = this.#next;
    this.#next += 1n;
    this.#subscriptions.set(id, { onObject, onDatagram });
    let request;
    let answers;
    const end = () => {
      this.#subscriptions.delete(id);
      request?.abort().catch(() => {});
      answers?.cancel();
    };
    const run = async () => {
      const { readable, writable } = await this.#transport.createBidirectionalStream();
      answers = new Reader(readable, this.#count);
      request = writable.getWriter();
      // The fields end with the priority, the maximum age, and the range: all groups from the
      // newest one on.
      const fields = [id, text(broadcast), text(track), 0, maxAgeMs, 0, 0, 0, 0];
      const message = fields.map((field) => (field instanceof Uint8Array ? field : varint(field)));
      await request.write(joined([varint(SUBSCRIBE), sized(joined(message))]));
      // When the relay ends the subscription, it ends its answers.
      await answers.drain();
    };
    run().catch(() => this.#miss(id)).finally(() => {
      const isOpen = this.#subscriptions.has(id);
      end();
      if (isOpen) onEnd();
    });
    return end;
  }

  close(reason = "closed by this page") {
    this.#subscriptions.clear();
    this.#end(reason);
    this.#transport.close();
  }

  #count = (bytes) => {
    this.receivedBytes += bytes;
    this.receivedMs = performance.now();
  };

  // Counts an error, unless this side has ended the subscription or the session.
  #miss(id) {
    if (this.#isOpen && (id === undefined || this.#subscriptions.has(id))) this.missed += 1;
  }

  // Passes each incoming stream to `take`.
  async #accept(readable, take) {
    const reader = readable.getReader();
    const failed = (error) => {
      // The relay gives up late groups, which is normal. An error of the module is a bug, so end
      // the session.
      if (error instanceof WebAssembly.RuntimeError) this.#end(error.message);
      this.#miss();
    };
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        Promise.resolve(value).then(take).catch(failed);
      }
    } catch {
      // Ignore the error, because `closed` reports the end of the session.
    }
  }

  async #read(stream) {
    const reader = new Reader(stream, this.#count);
    if (await reader.varint() !== GROUP) return reader.drain();
    const [id, group, first] = split(await reader.sized(MAX_HEADER_BYTES), 3);
    for (let number = first; !(await reader.isAtEnd()); number += 1n) {
      await reader.varint();
      const bytes = await reader.sized(MAX_OBJECT_BYTES);
      const subscription = this.#subscriptions.get(id);
      if (!subscription) return reader.cancel();
      subscription.onObject(group, number, bytes);
    }
  }

  #take(datagram) {
    this.#count(datagram.length);
    const [id, , , bytes] = split(datagram, 3);
    this.#subscriptions.get(id)?.onDatagram(bytes);
  }
}
