// The tests of places in the world: a sailor who stands on a ship that turns and steps off at
// tick 30, a sailor ashore, and one whose ship never arrives.

import * as crowd from "../crowd.js";
import { bytesOf, expect, hashOf, linesOf } from "./support.js";

const STEPS_OFF_AT = 30;
const DECK = [10, 2, 3];
const QUAY = [-20, 5, 0.5];

// `receiverOf` makes a receiver from a recorded text.
export function frameTests(read, receiverOf) {
  return {
    "a receiver gives the recorded places in the world": async () => {
      const text = await read("frames");
      const receiver = receiverOf(text);
      const calls = sessionOf(text, "receiver");
      expect(receiver.schema.kinds[1].fields[0].frame === "ship", "a relative field");
      replay(receiver, calls, (word, now, [hex]) => {
        if (word === "transmit") expect(receiver.transmit(now) !== undefined, "a datagram");
        else receiver.handle(bytesOf(hex), now);
      });
    },
    "a viewer gives the recorded places in the world": async () => {
      const [[, catalogue], ...calls] = sessionOf(await read("frames"), "viewer");
      const viewer = new crowd.Viewer(bytesOf(catalogue));
      viewer.watch("full");
      replay(viewer, calls, (word, now, [track, group, number, hex]) => {
        viewer.object(track, group, number, bytesOf(hex), now);
      });
    },
  };
}

// The lines of the session that begins with the line `whose`.
function sessionOf(text, whose) {
  const lines = linesOf(text);
  const other = lines.findIndex(([word], at) => at > 0 && word === "viewer");
  return whose === "viewer" ? lines.slice(other) : lines.slice(1, other);
}

function replay(from, calls, take) {
  let played = 0;
  for (const [word, first, ...rest] of calls) {
    const now = Number(first);
    if (word === "play") {
      const [tick, hash] = rest;
      const frame = from.play(now);
      expect(frame.tick === Number(tick), `tick ${tick}, not ${frame.tick}`);
      expectPlaces(frame, hash);
      played += 1;
    } else if (word === "newest") {
      expectPlaces(from.newest(), first);
    } else {
      take(word, now, rest);
    }
  }
  expect(played > 40, "a good run");
  from.free();
}

function expectPlaces(frame, hash) {
  const [ferry, sailors] = [frame.kind("ferry"), frame.kind("sailor")];
  expect(ferry.places === undefined, "no places for a kind without frames");
  const { position, rotation, velocity } = sailors.places;
  expect(hashOf([sailors.ids, position, rotation, velocity]) === hash, `places at ${frame.tick}`);
  const [passenger, ashore, lost] = [7, 8, 9].map((id) => sailors.indexOf(id));
  const at = (index) => Array.from(position.subarray(3 * index, 3 * index + 3));
  expect(distance(at(ashore), QUAY) < 0.005, "a sailor ashore");
  expect(at(lost).every(Number.isNaN) && Number.isNaN(rotation[4 * lost + 3])
    && Number.isNaN(velocity[3 * lost]), "no numbers without a ship");
  if (frame.tick < STEPS_OFF_AT - 1) {
    const [, , z, w] = ferry.fields.rotation;
    const [sin, cos] = [Math.sin(2 * Math.atan2(z, w)), Math.cos(2 * Math.atan2(z, w))];
    const [x, y, height] = ferry.fields.position;
    const onDeck = [
      x + DECK[0] * cos - DECK[1] * sin, y + DECK[0] * sin + DECK[1] * cos, height + DECK[2],
    ];
    expect(distance(at(passenger), onDeck) < 0.005, "a passenger who stands still");
  } else if (frame.tick > STEPS_OFF_AT) {
    expect(Math.hypot(...velocity.subarray(3 * passenger, 3 * passenger + 3)) < 1e-9, "a stand");
  }
}

function distance(one, other) {
  return Math.hypot(...one.map((axis, at) => axis - other[at]));
}
