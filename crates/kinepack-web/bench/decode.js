// Measures the module's time for the datagrams of a file that the example `datagrams` wrote. In
// Node, run `node crates/kinepack-web/bench/decode.js FILE...`. In a browser, `decode.html?FILE`
// does the same, from any server of static files for `crates/kinepack-web/`.

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
  // A browser's clock is too coarse for a single datagram, so this measures whole runs.
  const best = (plays) => {
    let bestMs = Infinity;
    for (let run = 0; run < RUNS; run += 1) {
      const receiver = new Receiver({ ...head, schema, profile });
      const start = performance.now();
      for (const [now, datagram] of datagrams) {
        receiver.handle(datagram, now);
        while (receiver.transmit(now)) { /* acknowledgements go nowhere */ }
        if (plays) receiver.play(now);
      }
      bestMs = Math.min(bestMs, performance.now() - start);
      receiver.free();
    }
    return bestMs;
  };
  const takenMs = best(false);
  const us = (ms) => (ms * 1e3 / datagrams.length).toFixed(1);
  return `${name} at ${head.level}: ${datagrams.length} datagrams, ${us(takenMs)} µs to take and `
    + `acknowledge one, ${us(best(true) - takenMs)} µs to play a frame`;
}

if (typeof process === "object") {
  const { readFile } = await import("node:fs/promises");
  for (const file of process.argv.slice(2)) console.log(await measure(file, await readFile(file)));
}
