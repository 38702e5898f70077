// The tests of a page's own body, for Node and browsers. The recorded lanes and packets are those
// of the native library.

import { ClipPlay, Figure, FigurePlayer, FigureSender, memoryBytes } from "../figures.js";
import { INNER } from "../frame.js";
import * as snapshots from "../snapshots.js";
import { JOINTS, OPTIONS } from "./figures.js";
import { bytesOf, expect, expectError, hexOf, linesOf } from "./support.js";

export function senderTests(read) {
  return {
    "a page's own body has the recorded lanes and packets": async () => {
      replay(linesOf(await read("sent-figures")));
    },
    "wrong poses are refused and change nothing": refuseWrongPoses,
    "a stream of another figure is refused, and the error says why": () => {
      const stream = streamOf(new Figure(JOINTS, OPTIONS));
      const other = (options, joints = JOINTS) => () => {
        return new FigureSender(new Figure(joints, { ...OPTIONS, ...options }), stream);
      };
      other({})().free();
      expectError(other({ precisionCm: 0.5 }), "the stream is not of this figure: its numbers");
      expectError(other({ coarser: [] }), 'field 12 is "figure[tier]", and');
      expectError(other({ clips: { slots: 2, names: ["wave", "walk"] } }), "other names");
      expectError(() => new FigureSender(new Figure(JOINTS), {}), "an InputSender");
    },
    "a shown pose is sent again with the same lanes": sendShown,
    "a bind pose is sent, also after the memory grew": () => {
      const figure = new Figure(JOINTS, { ...OPTIONS, curves: [{ ...OPTIONS.curves[0], min: 0.5 }],
        parts: [] });
      const sender = new FigureSender(figure, streamOf(figure));
      const pose = figure.bindPose();
      expect(pose.translations[1] === Math.fround(0.95) && pose.curves[0] === 0.5, "a bind pose");
      sender.push(pose);
      const lanes = sender.lanes.slice();
      sender.push({ rotations: Array.from(pose.rotations), curves: [0.5] });
      expect(sender.lanes.join() === lanes.join(), "the translations and scales by default");
      pose.rotations.set([0, 0, 0.6, 0.8], 4);
      sender.push(pose);
      expect(sender.lanes.join() !== lanes.join(), "another pose");
      // The memory grows, and the arrays are made anew.
      const before = memoryBytes();
      const large = Array.from({ length: 9000 }, () => ({ parent: "hip" }));
      new Figure(JOINTS.concat(large)).free();
      const again = sender.lanes.slice();
      sender.push(pose);
      expect(memoryBytes() > before && sender.lanes.join() === again.join(), "the same lanes");
    },
    "the time of a clip that plays": () => {
      const play = ClipPlay.start("walk", 100).withSpeed(130, 0.5);
      expect(play.timeTicks(130) === 30 && play.timeTicks(140.25) === 35.125, "half as fast");
      expect(play.withSpeed(200, 0.5) === play, "the same play");
      const faded = play.withWeight(0.2);
      expect(faded.timeTicks(150) === 40 && faded.weight === 51 / 255, "the time runs on");
      expect(play.weight === 1 && play.since === 130, "a play does not change");
      expect(play.withTime(7, -3.25).timeTicks(9) === -2.25, "a negative time");
      // Ticks and times wrap.
      const late = ClipPlay.start(0, 2 ** 32 - 2).withSpeed(2 ** 32 - 2, -16);
      expect(late.timeTicks(3) === -80, "over the wrap of ticks");
      expect(late.withTime(0, -(2 ** 21)).timeTicks(1) === 2 ** 21 - 16, "over the wrap of times");
      expectError(() => ClipPlay.start(0, -1), "from 0 to 2^32 - 1, not -1");
      expectError(() => play.withSpeed(0.5, 1), "not 0.5");
      expectError(() => play.withTime(0, 2 ** 21), "the time of a clip is 2097152");
      expectError(() => play.withSpeed(0, NaN), "the speed of a clip is NaN");
      expectError(() => play.withWeight(1.01), "it must be from 0 to 1");
    },
  };
}

function streamOf(figure) {
  return new snapshots.InputSender({ schema: figure.schemaFile(), rateHz: 60 });
}

// The clips of `tests/recorded/figures.rs` for the body 0.
function playsAt(tick) {
  const change = Math.floor(tick / 25) * 25;
  const walk = ClipPlay.start("walk", 0).withSpeed(change, 0.75 + change / 100);
  const wave = ClipPlay.start(1, Math.floor(tick / 20) * 20).withWeight((tick % 20) / 19);
  return [walk, Math.floor(tick / 20) % 2 === 0 ? wave : undefined];
}

const floatsOf = (hex) => new Float32Array(bytesOf(hex).buffer);

function replay([[, level, rateHz, repeats, skeleton, schema], ...calls]) {
  const figure = new Figure(bytesOf(skeleton), OPTIONS);
  expect(hexOf(figure.schemaFile()) === schema, "the schema of Rust");
  const inputs = new snapshots.InputSender({
    schema: bytesOf(schema), level, rateHz: Number(rateHz), repeats: Number(repeats),
  });
  const sender = new FigureSender(figure, inputs);
  let pushed = 0;
  for (const [word, first, ...rest] of calls) {
    if (word === "pose") {
      const [translations, rotations, curves, hasHand, tier, number, lanes] = rest;
      const pose = {
        translations: floatsOf(translations), rotations: floatsOf(rotations),
        curves: floatsOf(curves), absent: hasHand === "true" ? [] : ["hand"],
        clips: playsAt(Number(first)), tier: Number(tier),
      };
      if (hasHand !== "true") {
        // What is not tracked may have any numbers.
        pose.rotations.fill(NaN, 4 * 3, 4 * 5);
        pose.translations.fill(NaN, 3 * 3, 3 * 5);
        pose.curves[1] = NaN;
      }
      expect(sender.push(pose) === Number(number), "the recorded number");
      expect(hexOf(new Uint8Array(sender.lanes.buffer)) === lanes, `the lanes at tick ${first}`);
      pushed += 1;
    } else if (word === "transmit") {
      expect(hexOf(inputs.transmit()) === first, "the recorded packet");
    } else {
      inputs.handle(bytesOf(first));
    }
  }
  expect(pushed === 40, "all poses");
  for (const object of [sender, figure, inputs]) object.free();
}

// Shows the lanes that one sender made, and sends the shown pose.
function sendShown() {
  const figure = new Figure(JOINTS, { ...OPTIONS, clips: undefined });
  const sender = new FigureSender(figure, streamOf(figure));
  const pose = figure.bindPose();
  pose.translations.set([1.234, 0.95, -2.5]);
  pose.rotations.set([0.36, 0.48, 0, 0.8, 0, 0.6, 0, 0.8], 0);
  pose.rotations.set([0, 0.28, 0, 0.96], 16);
  pose.curves.set([-0.37, 0.62]);
  sender.push(pose);
  const sent = sender.lanes;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const words = new Uint32Array(memory.buffer);
  // The id, the moment between two states, and both states.
  words.set([7, 0, 0, ...sent, ...sent]);
  const inner = {
    keep_lanes() {}, lanes_at: () => 0, lanes_len: () => 3 + 2 * sent.length, tick: () => 0,
  };
  const schema = { kinds: [{ name: "", hash: figure.inner.hash(), fields: [] }] };
  const bodies = new FigurePlayer(figure, { schema, [INNER]: () => ({ inner, memory }) });
  expect(bodies.play() === 1, "a body");
  const shown = bodies.pose(0);
  expect(Math.abs(shown.translations[0] - 1.234) < 0.004, "the place");
  expect(Math.abs(shown.curves[0] + 0.37) < 0.0101, "the curve");
  sender.push(shown);
  expect(sender.lanes !== sent && sender.lanes.join() === sent.join(), "the same lanes");
  for (const object of [bodies, sender, figure]) object.free();
}

function refuseWrongPoses() {
  const figure = new Figure(JOINTS, OPTIONS);
  const inputs = streamOf(figure);
  const sender = new FigureSender(figure, inputs);
  const good = figure.bindPose();
  expect(sender.push(good) === 0, "the first number");
  inputs.transmit();
  const lanes = sender.lanes.slice();
  const refused = (part, changes) => {
    expectError(() => sender.push({ ...good, ...changes }), part);
    expect(sender.lanes.join() === lanes.join() && !inputs.transmit(), "no change");
  };
  // The bind pose with other numbers from an index on.
  const changed = (what, at, ...numbers) => {
    const list = good[what].slice();
    list.set(numbers, at);
    return { [what]: list };
  };
  refused('rotation of joint 2 "arm" has the length NaN', changed("rotations", 9, NaN));
  refused("has the length 0.5, not 1: normalize the quaternion", changed("rotations", 7, 0.5));
  refused('("hip"): send its last transform', changed("translations", 0, Infinity));
  refused('("hip"): send its last transform', { translations: new Float64Array(18).fill(1e39) });
  refused('("hip"): give it a larger `rangeCm`', changed("translations", 0, 6));
  refused('joint 1 "spine" is not at its place', changed("translations", 3, 9));
  refused("keep its scale", changed("scales", 6, 2));
  refused('joint 5 "lamp" turns', changed("rotations", 20, 0, 0, 0.6, 0.8));
  refused('curve 0 is NaN, beyond its limits: "smile" must be from -1 to 1',
    changed("curves", 0, NaN));
  refused('"grip" must be from 0 to 1', changed("curves", 1, 1.5));
  refused("rotations must be 24 numbers, 4 for each joint, not 20",
    { rotations: good.rotations.subarray(4) });
  refused("rotations must be 24 numbers, 4 for each joint, not undefined",
    { rotations: undefined });
  refused("translations must be 18 numbers", { translations: [0, 0, 0] });
  refused("curves must be 2 numbers, 1 for each curve, not 0", { curves: undefined });
  refused("there is no tier 2; the figure has 2", { tier: 2 });
  refused("there is no tier 0.5", { tier: 0.5 });
  refused('there is no part "legs"', { absent: ["legs"] });
  refused("there is no slot 2; there are 2", { clips: [null, null, ClipPlay.start(0, 1)] });
  refused('there is no clip "run"', { clips: [ClipPlay.start("run", 1)] });
  refused("is a ClipPlay", { clips: [{ clip: 0 }] });
  refused("clips must be an array", { clips: {} });
  refused("absent must be an array", { absent: 5 });
  refused("absent has 100000 elements", { absent: new Array(100_000) });
  expectError(() => sender.push(), "push takes a pose");
  for (const [part, wrong] of [
    ["coarser must be an array", { coarser: 4 }],
    ["coarser must be an array", { coarser: new Set([4]) }],
    ["the slots of clips must be", { clips: { slots: 1.5, names: ["wave"] } }],
    ["the slots of clips must be", { clips: { slots: 2 ** 32 + 1, names: ["wave"] } }],
    ["give it fewer tiers", { coarser: Array.from({ length: 254 }, (_, at) => 2 + at) }],
  ]) {
    expectError(() => new Figure(JOINTS, wrong).schemaFile(), part);
  }
  const lying = Object.defineProperty(new Uint32Array(1), "length", { value: lanes.length });
  expectError(() => inputs.pushLanes(lying), "lanes");
  for (const [part, wrong] of [
    ["a Uint32Array", [...lanes]], ["lanes", lanes.subarray(1)], ["lane 0", lanes.slice().fill(9)],
  ]) {
    expectError(() => inputs.pushLanes(wrong), part);
    expect(!inputs.transmit(), "no change");
  }
  // A pose that is a little off is taken, and so is the next one.
  const near = figure.bindPose();
  near.rotations.set([0, 0, 0.6 * 1.005, 0.8 * 1.005], 4);
  expect(sender.push(near) === 1 && inputs.transmit(), "the second number");
  sender.free();
  sender.free();
  expectError(() => sender.push(near), "the sender was freed");
  expect(figure.bindPose().rotations.length === near.rotations.length, "the module still works");
}
