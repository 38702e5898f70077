// How long the module takes for the datagrams of a file that the example `datagrams` wrote, in Node:
// `node crates/kinepack-web/bench/decode.js FILE...`. `decode.html?FILE` does the same in a browser.

import { Receiver, load } from "../package/snapshots.js";

const RUNS = 5;

export async function measure(name, bytes) {
  await load();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const datagrams = [];
  for (let at = 4 + length; at < bytes.length; at += 12 + datagrams.at(-1)[1].length) {
    const end = at + 12 + view.getUint32(at + 8, true);
    datagrams.push([view.getFloat64(at, true), bytes.slice(at + 12, end)]);
  }
  const [schema, profile] = [head.schema, head.profile].map((hex) => {
    return Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
  });
  let [takenMs, playedMs] = [Infinity, Infinity];
  for (let run = 0; run < RUNS; run += 1) {
    const receiver = new Receiver({ ...head, schema, profile });
    let [taken, played] = [0, 0];
    for (const [now, datagram] of datagrams) {
      const start = performance.now();
      receiver.handle(datagram, now);
      taken += performance.now() - start;
      while (receiver.transmit(now)) { /* acknowledgements go nowhere */ }
      const begin = performance.now();
      receiver.play(now);
      played += performance.now() - begin;
    }
    takenMs = Math.min(takenMs, taken);
    playedMs = Math.min(playedMs, played);
    receiver.free();
  }
  const us = (ms) => (ms * 1e3 / datagrams.length).toFixed(1);
  return `${name} at ${head.level}: ${datagrams.length} datagrams, ${us(takenMs)} µs to take one, `
    + `${us(playedMs)} µs to play a frame`;
}

if (typeof process === "object") {
  const { readFile } = await import("node:fs/promises");
  for (const file of process.argv.slice(2)) console.log(await measure(file, await readFile(file)));
}
