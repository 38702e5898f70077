// Tests of connections to a server that the tests simulate.

import { readFile } from "node:fs/promises";
import { afterEach, test } from "node:test";

import { connect } from "../connection.js";
import { load } from "../snapshots.js";
import { bytesOf, expect, linesOf } from "./support.js";
import { receiverOf } from "./tests.js";

// Simulates a browser's WebTransport. It sends datagrams while `isSending` is true, and otherwise
// keeps them.
class PlayedTransport {
  ready = Promise.resolve();
  closed = new Promise(() => {});
  isSending = true;
  sent = [];
  #kept = [];

  constructor() {
    const readable = new ReadableStream({ start: (to) => { this.arrivals = to; } });
    const write = (bytes) => new Promise((resolve) => {
      this.#kept.push(() => {
        this.sent.push(bytes);
        resolve();
      });
      this.release();
    });
    this.datagrams = { readable, writable: new WritableStream({ write }) };
    for (const datagram of PlayedTransport.early) this.arrivals.enqueue(datagram);
    PlayedTransport.last = this;
  }

  // The datagrams that arrive before the page has the connection.
  static early = [];

  release() {
    while (this.isSending && this.#kept.length > 0) this.#kept.shift()();
  }

  close() {}
}

class PlayedSocket {
  static OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  sent = [];

  constructor() {
    PlayedSocket.last = this;
    setTimeout(() => this.onopen());
  }

  send(bytes) {
    this.sent.push(bytes);
    this.bufferedAmount += bytes.length;
  }

  close() {}
}

const settled = () => new Promise((resolve) => { setTimeout(resolve, 20); });

afterEach(() => {
  delete globalThis.WebTransport;
  delete globalThis.WebSocket;
  PlayedTransport.early = [];
});

test("datagrams that a session does not send are skipped above 64", async () => {
  globalThis.WebTransport = PlayedTransport;
  const connection = await connect({ webTransport: "https://play.example/", onDatagram: () => {} });
  const transport = PlayedTransport.last;
  transport.isSending = false;
  for (let nth = 0; nth < 100; nth += 1) connection.send(Uint8Array.of(nth));
  await settled();
  expect(connection.skipped === 36, `36 to be skipped, not ${connection.skipped}`);
  transport.isSending = true;
  transport.release();
  await settled();
  connection.send(Uint8Array.of(200));
  await settled();
  expect(transport.sent.length === 65, `65 to be sent, not ${transport.sent.length}`);
  expect(transport.sent.at(-1)[0] === 200 && connection.skipped === 36, "the new one");
});

test("datagrams that a WebSocket does not send are skipped above 64", async () => {
  globalThis.WebSocket = PlayedSocket;
  const connection = await connect({ webSocket: "wss://play.example/", onDatagram: () => {} });
  const socket = PlayedSocket.last;
  for (let nth = 0; nth < 100; nth += 1) connection.send(new Uint8Array(1 + nth));
  expect(socket.sent.length === 64 && connection.skipped === 36, "64 to wait");
  // All datagrams have been sent, except half of the last one.
  socket.bufferedAmount = 32;
  for (let nth = 0; nth < 100; nth += 1) connection.send(new Uint8Array(10));
  expect(socket.sent.length === 64 + 63, `63 more, not ${socket.sent.length - 64}`);
  socket.bufferedAmount = 0;
  for (let nth = 0; nth < 64; nth += 1) connection.send(new Uint8Array(10));
  expect(socket.sent.length === 64 + 63 + 64, "all the places to be free");
  expect(connection.skipped === 36 + 37, "the others to be counted");
});

test("the reason for which the server closes a connection is told", async () => {
  const reasons = [];
  const [onDatagram, onClose] = [() => {}, (reason) => reasons.push(reason)];
  globalThis.WebTransport = class extends PlayedTransport {
    closed = new Promise((resolve) => { this.endWith = resolve; });
  };
  await connect({ webTransport: "https://play.example/", onDatagram, onClose });
  PlayedTransport.last.endWith({ closeCode: 1, reason: "full" });
  await settled();
  globalThis.WebSocket = PlayedSocket;
  for (const reason of ["bye", ""]) {
    await connect({ webSocket: "wss://play.example/", onDatagram, onClose });
    PlayedSocket.last.onclose({ reason });
  }
  const told = reasons.join();
  expect(told === "full,bye,the server closed the connection", told);
});

// This runs the documented page in a tab whose timers do not run.
for (const [name, file] of [["README", "../README.md"], ["book", "../../../../docs/src/web.md"]]) {
  test(`the page of the ${name} answers datagrams without a timer`, async () => {
    const text = await readFile(new URL(file, import.meta.url), "utf8");
    const code = /const answer = [^]*?\nsetInterval\(.*\n/.exec(text)[0];
    const Page = (async () => {}).constructor;
    const page = new Page("connect", "receiver", "address", "hash", "setInterval", code);
    await load();
    const recorded = await readFile(new URL("recorded/packed.txt", import.meta.url), "utf8");
    const receiver = receiverOf(recorded);
    const handled = linesOf(recorded).filter(([word]) => word === "handle");
    const datagrams = handled.slice(0, 20).map(([, , hex]) => bytesOf(hex));
    globalThis.WebTransport = PlayedTransport;
    PlayedTransport.early = datagrams.slice(0, 2);
    const timers = [];
    await page(connect, receiver, "https://play.example/", undefined, (call) => timers.push(call));
    const transport = PlayedTransport.last;
    for (const datagram of datagrams.slice(2)) {
      transport.arrivals.enqueue(datagram);
      await settled();
    }
    expect(receiver.stats().received > 10, "snapshots to arrive");
    expect(transport.sent.length > 10, `answers, not ${transport.sent.length}`);
    expect(timers.length === 1, "one timer");
    receiver.free();
  });
}
