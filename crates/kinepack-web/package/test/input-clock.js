// Tests of the clock of inputs, and of inputs for ticks.

import * as snapshots from "../snapshots.js";
import { bytesOf, expect, expectError, hexOf, linesOf } from "./support.js";

export function clockTests(read, receiverOf, senderOf) {
  return {
    "a clock asks for the recorded ticks": async () => {
      const text = await read("input-clock");
      replayClock(senderOf(text), linesOf(text).slice(1));
    },
    "a clock starts from a receiver": async () => {
      const text = await read("packed");
      const [receiver, clock] = [receiverOf(text), new snapshots.InputClock({ tickHz: 60 })];
      expect(!clock.startFrom(receiver, 0) && !clock.isStarted, "a receiver that knows nothing");
      expect(clock.ticks(0).count === 0, "no tick before the start");
      let now = 0;
      for (const [word, ms, hex] of linesOf(text).slice(1)) {
        if (word === "handle") receiver.handle(bytesOf(hex), Number(ms));
        if (word === "handle" || word === "transmit") now = Number(ms);
        if (word === "transmit") receiver.transmit(now);
      }
      const { serverTick, roundTripMs } = receiver.stats(now);
      expect(roundTripMs > 50, "a round trip");
      expect(clock.startFrom(receiver, now) && clock.isStarted, "a start");
      const ahead = clock.tick - serverTick - (roundTripMs / 2) * 0.06;
      expect(Math.abs(ahead - 2) < 0.001, `2 ticks ahead of the way to the server, not ${ahead}`);
      const { first, count } = clock.ticks(now + 17);
      expect(first === Math.ceil(serverTick + (roundTripMs / 2) * 0.06 + 2), `not ${first}`);
      expect(count === 1 || count === 2, `${count} ticks in 17 ms`);
      receiver.free();
      clock.free();
    },
    "wrong clocks and ticks are refused": async () => {
      const make = (options) => () => new snapshots.InputClock({ tickHz: 60, ...options });
      expectError(make({ tickHz: 0 }), "0 ticks a second");
      expectError(make({ inTimeRatio: 1.5 }), "1.5 of the inputs in time");
      expectError(make({ inTimeRatio: NaN }), "inputs in time");
      expectError(make({ slewRatio: 0 }), "slew");
      expectError(make({ windowMs: -1 }), "0ns");
      expectError(make({ jumpBackMs: 1e6 }), "1000s");
      const sender = senderOf(await read("inputs-packed"));
      const good = { thrust: [0, 0.5], fire: true, weapon: 2 };
      for (const tick of [-1, 1.5, 2 ** 32, NaN, undefined]) {
        expectError(() => sender.pushForTick(tick, good), "a tick must be an integer");
      }
      expectError(() => sender.pushForTick(7, { ...good, thrust: [0, 2] }), "thrust is out of");
      expect(sender.pushForTick(2 ** 16 + 7, good) === 7, "the number of the tick");
      expectError(() => sender.pushLanesForTick(9, [1, 2]), "Uint32Array");
      const clock = make({})();
      expectError(() => sender.handle(new Uint8Array([7, 9, 0]), clock, 0), "");
      expect(clock.stats().reports === 0 && sender.stats().refused === 1, "no report");
    },
  };
}

function replayClock(sender, lines) {
  const [[, tickHz, inTimeRatio], ...calls] = lines;
  const clock = new snapshots.InputClock({
    tickHz: Number(tickHz), inTimeRatio: Number(inTimeRatio),
  });
  let next = 0;
  for (const [word, first, ...rest] of calls) {
    if (word === "start") {
      clock.start(Number(rest[0]), Number(first));
    } else if (word === "acknowledge") {
      sender.handle(bytesOf(rest[0]), clock, Number(first));
    } else if (word === "ticks") {
      const ticks = clock.ticks(Number(first));
      expect(ticks.count === Number(rest[1]), `${rest[1]} ticks at ${first}, not ${ticks.count}`);
      expect(ticks.count === 0 || ticks.first === Number(rest[0]), `tick ${rest[0]}`);
      expect(clock.tick === Number(rest[2]), `${rest[2]}, not ${clock.tick}`);
      next = ticks.first;
    } else if (word === "push") {
      const [x, y, fire, weapon] = rest;
      const values = { thrust: [Number(x), Number(y)], fire: fire === "true", weapon: Number(weapon) };
      expect(sender.pushForTick(next, values) === Number(first), "the recorded number");
      next += 1;
    } else if (word === "transmit") {
      expect(hexOf(sender.transmit()) === first, "the recorded packet");
    } else {
      const stats = Object.values(clock.stats());
      expect(stats.join(" ") === [first, ...rest].map(Number).join(" "), `stats, not ${stats}`);
    }
  }
  clock.free();
  sender.free();
}
