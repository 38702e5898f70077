// Tests of the client of Media over QUIC, with a relay that the tests simulate.

import { afterEach, test } from "node:test";

import { Watching, load } from "../crowd.js";
import { Session } from "../moq.js";
import { bytesOf, expect, hexOf } from "./support.js";

const CONNECT = { certificateHash: undefined, patienceMs: 500 };

// Simulates a browser's WebTransport with a relay at the other end.
class PlayedTransport {
  ready = Promise.resolve();
  protocol = "moq-lite-06";
  written = [];

  constructor(url, options) {
    Object.assign(this, { url, options });
    this.closed = new Promise((resolve) => { this.endWith = resolve; });
    this.incomingUnidirectionalStreams = new ReadableStream({ start: (to) => { this.streams = to; } });
    this.datagrams = { readable: new ReadableStream({ start: (to) => { this.arrivals = to; } }) };
    PlayedTransport.last = this;
  }

  #stream() {
    const bytes = [];
    this.written.push(bytes);
    return new WritableStream({ write: (chunk) => { bytes.push(...chunk); } });
  }

  async createUnidirectionalStream() {
    return this.#stream();
  }

  async createBidirectionalStream() {
    const readable = new ReadableStream({ start: (to) => { this.answers = to; } });
    return { readable, writable: this.#stream() };
  }

  close() {
    this.endWith({ reason: "" });
  }

  // Delivers a stream in pieces of `length` bytes.
  bring(bytes, length) {
    this.streams.enqueue(new ReadableStream({
      start(to) {
        for (let at = 0; at < bytes.length; at += length) to.enqueue(bytes.slice(at, at + length));
        to.close();
      },
    }));
  }
}

async function connect() {
  globalThis.WebTransport = PlayedTransport;
  const session = await Session.connect("https://relay.example/anon", CONNECT);
  const [objects, datagrams, ends] = [[], [], []];
  const end = session.subscribe({
    broadcast: "cubes", track: "full", maxAgeMs: 1000,
    onObject: (group, number, bytes) => objects.push(`${group}:${number}:${hexOf(bytes)}`),
    onDatagram: (bytes) => datagrams.push(hexOf(bytes)),
    onEnd: () => ends.push("end"),
  });
  await settled();
  return { session, relay: PlayedTransport.last, objects, datagrams, ends, end };
}

const settled = () => new Promise((resolve) => { setTimeout(resolve, 20); });

afterEach(() => { delete globalThis.WebTransport; });

test("it asks for a track", async () => {
  const { relay } = await connect();
  expect(relay.options.protocols.join() === "moq-lite-06", "the protocol");
  const [setup, request] = relay.written.map((bytes) => hexOf(Uint8Array.from(bytes)));
  expect(setup === "010401030102", `SETUP, not ${setup}`);
  expect(request === "0213000563756265730466756c6c0043e800000000", `SUBSCRIBE, not ${request}`);
});

test("objects come in pieces of any length", async () => {
  const { relay, objects, datagrams } = await connect();
  // This is group 300 from frame 1 on, with two frames. Each frame has a time and a size.
  const large = "ab".repeat(70);
  const stream = bytesOf(`000400412c01 7bb8 03 010203 02 4046 ${large}`.replaceAll(" ", ""));
  for (const length of [1, 2, 7, 1000]) relay.bring(stream, length);
  relay.arrivals.enqueue(bytesOf("004007c000000000000009ffee"));
  await settled();
  expect(objects.length === 8, `8 objects, not ${objects.length}`);
  for (const object of objects) {
    expect(["300:1:010203", `300:2:${large}`].includes(object), object);
  }
  expect(datagrams.join() === "ffee", `a datagram, not ${datagrams}`);
});

test("nothing that comes breaks it", async () => {
  const { relay, objects, session } = await connect();
  const huge = bytesOf("000300050000ffffffffffffffff");
  const stranger = bytesOf("00030905000001ff");
  for (const bytes of [huge, stranger, bytesOf("00"), bytesOf("0040"), bytesOf("003f00"), bytesOf("0100")]) {
    relay.bring(bytes, 3);
  }
  let state = 1;
  for (let nth = 0; nth < 500; nth += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const bytes = Uint8Array.from({ length: state % 40 }, (_, at) => (state >>> at % 24) ^ at);
    relay.bring(bytes, 1 + (state % 9));
    relay.arrivals.enqueue(bytes);
  }
  await settled();
  const before = objects.length;
  relay.bring(bytesOf("00030005000001ff"), 8);
  await settled();
  expect(objects.length === before + 1 && objects.at(-1) === "5:0:ff", "the object after all that");
  expect(session.receivedBytes > 1000, "what came to be counted");
  expect(session.missed > 5, "what could not be read to be counted");
  const missed = session.missed;
  session.close();
  await settled();
  expect(session.missed === missed, "no more after the end");
});

test("a subscription ends from both sides", async () => {
  const first = await connect();
  first.relay.answers.close();
  await settled();
  expect(first.ends.length === 1, "the relay's end");
  const second = await connect();
  second.end();
  second.relay.bring(bytesOf("00030005000001ff"), 8);
  await settled();
  expect(second.ends.length === 0 && second.objects.length === 0, "nothing after the end");
  second.session.close("enough");
  expect(await second.session.closed === "enough", "the reason");
});

test("it says why there is no session", async () => {
  const reasonOf = async () => {
    const failure = await Session.connect("https://relay.example", CONNECT).catch((error) => error);
    return failure.message;
  };
  expect((await reasonOf()).includes("has no WebTransport"), "no WebTransport");
  globalThis.WebTransport = class extends PlayedTransport { protocol = ""; };
  expect((await reasonOf()).includes("does not speak moq-lite-06"), "another protocol");
  globalThis.WebTransport = class extends PlayedTransport {
    async createUnidirectionalStream() {
      return new Promise(() => {});
    }
  };
  expect((await reasonOf()).includes("the session took longer than 500 ms"), "a relay that takes nothing");
  globalThis.WebTransport = class extends PlayedTransport { ready = new Promise(() => {}); };
  expect((await reasonOf()).includes("the handshake took longer than 500 ms"), "no answer");
});

test("a relay that does not bring the catalogue is given up", async () => {
  await load();
  globalThis.WebTransport = PlayedTransport;
  const watch = (patienceMs) => {
    const links = [];
    const onLink = ({ connected, reason }) => links.push(`${connected}: ${reason}`);
    return [new Watching("https://relay.example/cubes", { patienceMs, onLink }), links];
  };
  const [silent, links] = watch(30);
  while (links.length < 2) await settled();
  silent.close();
  expect(links[0] === "true: undefined", links[0]);
  expect(links[1] === "false: the catalogue took longer than 30 ms", links[1]);
  // Any announcement ends the wait.
  const [other, later] = watch(60);
  await settled();
  PlayedTransport.last.bring(bytesOf("00030005000001ff"), 8);
  for (let nth = 0; nth < 8; nth += 1) await settled();
  other.close();
  expect(later.length === 2 && later[1].startsWith("true: the broadcast cannot be read"), later.join());
});
