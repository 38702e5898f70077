// The package's tests. `node.test.js` runs them in Node, and `browser.html` in a browser. The
// recorded results are those of the native library. The module must give the same results, bit by
// bit.

import * as clips from "../clips.js";
import * as crowd from "../crowd.js";
import * as snapshots from "../snapshots.js";
import { senderTests } from "./figure-sender.js";
import { figureTests } from "./figures.js";
import { frameTests } from "./frames.js";
import { clockTests } from "./input-clock.js";
import { seenTests } from "./seen.js";
import {
  bytesOf, expect, expectError, hashOf, hashOfFrame, hexOf, linesOf, randomNumbers,
} from "./support.js";

export const LEVELS = ["packed", "adaptive", "learning"];

// `read` returns the text of a file in `recorded/`.
export function tests(read) {
  return {
    "what was recorded at each level comes out the same": async () => {
      for (const level of LEVELS) replay(await read(level));
    },
    "inputs become the recorded packets": async () => {
      for (const level of ["packed", "adaptive"]) replayInputs(await read(`inputs-${level}`));
    },
    "clips give the recorded poses": async () => replayClips(await read("clips")),
    "a broadcast gives the recorded frames": async () => replayBroadcast(await read("crowd")),
    "altered broadcasts are refused or taken, and the viewer goes on": async () => {
      attackViewer(await read("crowd"));
    },
    "a viewer says what is wrong": async () => {
      const [[, , catalogue]] = linesOf(await read("crowd"));
      const viewer = new crowd.Viewer(bytesOf(catalogue));
      expect(viewer.tiers.join() === "full,third,fast" && viewer.tickHz === 60, "the tiers");
      expect(viewer.shownTiers.length === 0 && viewer.wanted().length === 0, "nothing yet");
      expect(viewer.play(0) === undefined && viewer.history() === undefined, "no state yet");
      expectError(() => viewer.watch("best"), "it has \"full\"");
      expectError(() => viewer.watch(), "it has \"full\"");
      viewer.watch("fast", "third");
      expect(viewer.shownTiers.join() === "third,fast" && viewer.wanted().length === 4, "both");
      expectError(() => viewer.object("full", 0, 0, new Uint8Array(9)), "is not wanted");
      expectError(() => new crowd.Viewer(new Uint8Array(30)), "");
      expectError(() => new crowd.Viewer(bytesOf(catalogue), { minDelayMs: 9, maxDelayMs: 1 }), "delay");
      expectError(() => new crowd.Watching("http://localhost/cubes"), "https://");
      expectError(() => new crowd.Watching("https://localhost/"), "BROADCAST");
    },
    "a schema describes its kinds and fields": async () => {
      const { schema, eventSchema } = receiverOf(await read("packed"));
      expect(schema.kinds.map((kind) => kind.name).join() === "ship,beacon", "two kinds");
      const [ship, beacon] = schema.kinds;
      const types = (kind) => kind.fields.map(({ name, type, size }) => `${name}:${type}*${size}`);
      expect(types(ship).join(" ") === "position:f32*3 velocity:f32*3 rotation:f32*4 health:i32*1 "
        + "burning:u8*1 distance_mm:i64*1 jumps:i32*1", types(ship).join(" "));
      expect(types(beacon).slice(0, 3).join(" ") === "place:f64*2 heading_deg:f32*1 serial:u64*1",
        types(beacon).join(" "));
      expect(ship.fields[1].velocityOf === "position", "a velocity");
      expect(beacon.fields.at(-1).presentIf.least === 1, "a condition");
      expect(eventSchema.kinds[0].name === "hit", "a kind of events");
    },
    "bad options say what is wrong": async () => {
      const good = optionsOf(await read("packed"));
      const make = (changes) => () => new snapshots.Receiver({ ...good, ...changes });
      expectError(make({ schema: new Uint8Array(3) }), "schema");
      expectError(make({ level: "best" }), 'no level is named "best"; use packed, adaptive or learning');
      expectError(make({ profile: bytesOf("00ff00ff") }), "profile");
      expectError(make({ channel: 16 }), "at most 15");
      expectError(make({ tickHz: 0 }), "tick");
      expectError(make({ minDelayMs: 900, maxDelayMs: 100 }), "delays from 900ms to 100ms");
      const receiver = make({})();
      expectError(() => receiver.setDelays(200, 100), "delay");
      expect(receiver.play(0) === undefined && receiver.newest() === undefined, "no state yet");
      expectError(() => new snapshots.InputSender({ schema: good.schema, rateHz: 60 }), "kinds");
    },
    "altered and random datagrams are refused or taken, and the module goes on": async () => {
      for (const level of LEVELS) await attack(await read(level));
    },
    "wrong inputs are refused and change nothing": async () => {
      const sender = senderOf(await read("inputs-packed"));
      const good = { thrust: [0, 0.5], fire: true, weapon: 2 };
      expect(sender.push(good) === 0, "the first number");
      expectError(() => sender.push({ ...good, thrust: [0, 2] }), "thrust is out of its range");
      expectError(() => sender.push({ ...good, thrust: [0, NaN] }), "not a number");
      expectError(() => sender.push({ ...good, thrust: [0] }), "2 numbers");
      expectError(() => sender.push({ ...good, fire: undefined }), "fire must be a number");
      expectError(() => sender.push({ ...good, weapon: 1.5 }), "");
      expectError(() => sender.push({ ...good, weapon: 256 }), "weapon is out of its range");
      expectError(() => sender.handle(new Uint8Array([1, 2])), "");
      expect(sender.push(good) === 1, "the second number");
    },
    "datagrams are split into their parts": () => {
      const parts = snapshots.splitDatagram(new Uint8Array([7, 3, 0, 6, 5, 0, 1, 99]));
      expect(parts.map((part) => `${part.for}:${part.bytes.length}`).join()
        === "stream-sender:3,stream-receiver:5", "two parts");
      expectError(() => snapshots.splitDatagram(new Uint8Array()), "");
    },
    "other files are no clips": async () => {
      const { skeleton, files } = clipsOf(await read("clips"));
      expectError(() => new clips.Skeleton(files[0]), "");
      expectError(() => new clips.ClipPlayer(new Uint8Array(40), skeleton), "");
      for (let at = 0; at < files[0].length; at += 1) {
        const cut = () => new clips.ClipPlayer(files[0].slice(0, at), skeleton);
        expectError(cut, "");
      }
    },
    ...figureTests(read),
    ...frameTests(read, receiverOf),
    ...clockTests(read, receiverOf, senderOf),
    ...seenTests(read),
    ...senderTests(read),
  };
}

function optionsOf(text) {
  const [, level, tickHz, schema, profile, eventLevel, eventSchema, eventProfile] =
    linesOf(text)[0];
  return {
    schema: bytesOf(schema), profile: bytesOf(profile), level, tickHz: Number(tickHz),
    events: {
      schema: bytesOf(eventSchema), level: eventLevel, profile: bytesOf(eventProfile),
    },
  };
}

export function receiverOf(text) {
  return new snapshots.Receiver(optionsOf(text));
}

function replay(text) {
  const receiver = receiverOf(text);
  let [played, cuts] = [0, 0];
  for (const [word, first, ...rest] of linesOf(text).slice(1)) {
    const now = Number(first);
    if (word === "handle") {
      receiver.handle(bytesOf(rest[0]), now);
    } else if (word === "refuse") {
      expectError(() => receiver.handle(bytesOf(rest[0]), now), "");
    } else if (word === "transmit") {
      expect(hexOf(receiver.transmit(now) ?? []) === rest[0], "the recorded acknowledgement");
    } else if (word === "play") {
      expect(receiver.transmit(now) === undefined, "nothing more to send");
      const frame = receiver.play(now);
      const [tick, hash, damage] = rest;
      expect(frame.tick === Number(tick), `tick ${tick}, not ${frame.tick}`);
      expect(hashOfFrame(frame, [frame.added, frame.removed, frame.cut]) === hash, `frame ${tick}`);
      expect(frame.events.map((event) => event.values.damage).join() === damage, "the events");
      const ids = frame.kind("ship").ids;
      expect(ids.length > 5 && frame.kind("ship").indexOf(ids[5]) === 5, "a ship by its id");
      expect(frame.kind("ship").indexOf(999) === -1, "no such ship");
      played += 1;
      cuts += frame.cut.length;
    } else if (word === "newest") {
      const newest = receiver.newest();
      expect(newest.cut.length === 0, "no comparison with an earlier frame");
      expect(hashOfFrame(newest, []) === first, "the newest state");
      expect(receiver.newestLanes().length > 100, "lanes");
    }
  }
  const stats = receiver.stats(2000);
  expect(cuts > 15, `more cuts than ${cuts}`);
  expect(played > 60 && stats.joined && stats.mismatches === 0 && stats.events === 3, "a good run");
  expect(receiver.mismatch === undefined, "no mismatch");
  receiver.free();
}

function replayBroadcast(text) {
  const [[, historyS, catalogue], ...calls] = linesOf(text);
  const viewer = new crowd.Viewer(bytesOf(catalogue), { historyS: Number(historyS) });
  const taken = (call) => {
    try {
      return call() ? "read" : "kept";
    } catch {
      return "refused";
    }
  };
  let [played, cuts] = [0, 0];
  for (const [word, ...rest] of calls) {
    const now = Number(rest[0]);
    if (word === "watch") {
      viewer.watch(rest[0]);
      expect(viewer.wanted().includes(rest[0]), "its track");
    } else if (word === "rejoin") {
      viewer.rejoin();
    } else if (word === "object") {
      const [, track, group, number, result, hex] = rest;
      const call = () => viewer.object(track, Number(group), BigInt(number), bytesOf(hex), now);
      expect(taken(call) === result, `an object of ${track} to be ${result}`);
    } else if (word === "datagram") {
      const [, track, result, hex] = rest;
      expect(taken(() => viewer.datagram(track, bytesOf(hex), now)) === result, result);
    } else if (word === "play" || word === "back") {
      const [, tick, hash] = rest;
      const frame = word === "play" ? viewer.play(now) : viewer.playAt(Number(tick), now);
      expect(frame.tick === Number(tick), `tick ${tick}, not ${frame.tick}`);
      expect(hashOfFrame(frame, [frame.added, frame.removed, frame.cut]) === hash, `frame ${tick}`);
      played += 1;
      cuts += frame.cut.length;
    } else if (word === "history") {
      const { first, last } = viewer.history();
      expect(first === now && last === Number(rest[1]), "the history");
    } else {
      expect(hashOfFrame(viewer.newest(), []) === rest[0], "the newest state");
      expect(viewer.newestLanes().length > 100, "lanes");
    }
  }
  expect(cuts > 60, `more cuts than ${cuts}`);
  expect(played > 200 && viewer.shownTiers.join() === "fast", "a good run");
  viewer.free();
}

// Passes the recorded data to a viewer with altered bytes.
function attackViewer(text) {
  const [[, , catalogue], ...calls] = linesOf(text);
  const viewer = new crowd.Viewer(bytesOf(catalogue), { historyS: 1 });
  const random = randomNumbers();
  for (const [word, ...rest] of calls) {
    if (word === "watch") viewer.watch(rest[0]);
    if (word !== "object" && word !== "datagram") continue;
    const now = Number(rest[0]);
    const bytes = bytesOf(rest.at(-1));
    if (random() % 3 === 0) bytes[random() % bytes.length] ^= 1 << random() % 8;
    const offered = random() % 9 === 0 ? bytes.slice(0, random() % bytes.length) : bytes;
    try {
      if (word === "object") viewer.object(rest[1], rest[2], rest[3], offered, now);
      else viewer.datagram(rest[1], offered, now);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw error;
    }
    viewer.play(now);
  }
  expect(viewer.stats().refused > 30, "many to be refused");
  viewer.free();
}

// Passes each recorded datagram to a receiver with altered bits, and random datagrams too.
async function attack(text) {
  const receiver = receiverOf(text);
  const random = randomNumbers();
  let refused = 0;
  const offer = (bytes, now) => {
    try {
      receiver.handle(bytes, now);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw error;
      refused += 1;
    }
  };
  for (const [word, first, hex] of linesOf(text)) {
    if (word !== "handle") continue;
    const now = Number(first);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const bytes = bytesOf(hex).slice(0, attempt % 4 === 0 ? 1 + (random() % 30) : undefined);
      bytes[random() % bytes.length] ^= 1 << random() % 8;
      offer(bytes, now);
      offer(Uint8Array.from({ length: random() % 40 }, random), now);
    }
    receiver.transmit(now);
    receiver.play(now);
  }
  expect(refused > 500, "most to be refused");
  receiver.free();
}

function senderOf(text) {
  const [, level, rateHz, repeats, schema] = linesOf(text)[0];
  return new snapshots.InputSender({
    schema: bytesOf(schema), level, rateHz: Number(rateHz), repeats: Number(repeats),
  });
}

function replayInputs(text) {
  const sender = senderOf(text);
  for (const [word, first, ...rest] of linesOf(text).slice(1)) {
    if (word === "push") {
      const [x, y, fire, weapon] = rest;
      const thrust = [Number(x), Number(y)];
      const number = sender.push({ thrust, fire: fire === "true", weapon: Number(weapon) });
      expect(number === Number(first), "the recorded number");
    } else if (word === "transmit") {
      expect(hexOf(sender.transmit()) === first, "the recorded packet");
      expect(sender.transmit() === undefined, "only one");
    } else {
      sender.handle(bytesOf(first));
    }
  }
  expect(sender.stats().packets === 60, "60 packets");
  sender.free();
}

function clipsOf(text) {
  const [[, skeleton], [, ...files]] = linesOf(text);
  return { skeleton: new clips.Skeleton(bytesOf(skeleton)), files: files.map(bytesOf) };
}

function replayClips(text) {
  const { skeleton, files } = clipsOf(text);
  expect(skeleton.names.join() === "hip,spine,head \"top\"", "the names");
  expect(skeleton.parents.join() === "-1,0,1", "the parents");
  const [player, other] = files.map((file) => new clips.ClipPlayer(file, skeleton));
  expect(player.durationS === 2, "two seconds");
  expect(player.curveNames.join() === "smile,blink" && other.curveNames.length === 0, "curves");
  expect(JSON.stringify(player.markers) === '[{"name":"nod","timeS":0.5}]', "the marker");
  for (const [, time, hash] of linesOf(text).slice(2)) {
    player.sample(Number(time));
    other.sample(Number(time));
    const { translations, rotations, scales } = player.blend(other, 0.25);
    const curves = player.curves(Number(time));
    expect(hashOf([translations, rotations, scales, curves]) === hash, `the pose at ${time} s`);
  }
}
