// Tests of the stamps of what a receiver showed, and of entities that continue if states are late.

import * as snapshots from "../snapshots.js";
import { bytesOf, expect, expectError, hashOfFrame, hexOf, linesOf } from "./support.js";

export function seenTests(read) {
  return {
    "stamps become the recorded packets": async () => {
      const lines = linesOf(await read("seen"));
      const { receiver, sender } = open(lines);
      let shots = 0;
      for (const [word, first, ...rest] of lines.slice(2)) {
        const now = Number(first);
        if (word === "handle") receiver.handle(bytesOf(rest[0]), now);
        else if (word === "refuse") expectError(() => receiver.handle(bytesOf(rest[0]), now), "");
        else if (word === "transmit") receiver.transmit(now);
        else if (word === "play") {
          const frame = receiver.play(now);
          const hash = hashOfFrame(frame, [frame.added, frame.removed, frame.cut]);
          expect(hash === rest[0], `at ${now} ms`);
        }
        else if (word === "acknowledge") sender.handle(bytesOf(first));
        else {
          sender.push({ fires: first === "true", ...receiver.seen() });
          expect(hexOf(sender.transmit()) === rest[0], "the recorded packet");
          shots += 1;
        }
      }
      expect(shots === 180, `${shots} shots`);
      receiver.free();
      sender.free();
    },
    "a stamp has the names of its field, and is empty before the first state": async () => {
      const { receiver } = open(linesOf(await read("seen")));
      expect(JSON.stringify(receiver.seen("what")) === '{"what?":false}', "an empty stamp");
      receiver.free();
    },
    "a wrong kind or time of extrapolation is refused": async () => {
      const { receiver } = open(linesOf(await read("seen")));
      expectError(() => receiver.extrapolate("boat", 100), "boat");
      for (const ms of [-1, 1001, NaN, Infinity]) {
        expectError(() => receiver.extrapolate("ship", ms), "0 to 1000 ms");
      }
      receiver.extrapolate("ship", 0);
      receiver.free();
    },
  };
}

// Opens the recorded receiver and sender.
function open([[, level, tickHz, schema, profile], [, streamLevel, rateHz, repeats, inputs]]) {
  const receiver = new snapshots.Receiver({
    schema: bytesOf(schema), profile: bytesOf(profile), level, tickHz: Number(tickHz),
  });
  receiver.extrapolate("ship", 100);
  const sender = new snapshots.InputSender({
    schema: bytesOf(inputs), level: streamLevel, rateHz: Number(rateHz), repeats: Number(repeats),
  });
  return { receiver, sender };
}
