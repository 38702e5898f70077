// The tests of live bodies, for Node and browsers. The recorded poses are those of the native
// library.

import * as crowd from "../crowd.js";
import { Figure, FigurePlayer, memoryBytes } from "../figures.js";
import { INNER } from "../frame.js";
import * as snapshots from "../snapshots.js";
import { Skeleton } from "../clips.js";
import {
  bytesOf, expect, expectError, hashOf, hexOf, linesOf, randomNumbers,
} from "./support.js";

// The options of `tests/recorded/figures.rs`.
export const OPTIONS = Object.freeze({
  precisionCm: 0.4,
  shellCm: 2,
  jointPrecisionsCm: { hand: 0.1 },
  motions: { hip: { rangeCm: 500 }, thumb: { hinge: [0, 1, 0] }, lamp: "still" },
  curves: [
    { name: "smile", min: -1, max: 1, precision: 0.01 },
    { name: "grip", min: 0, max: 1, precision: 0.01 },
  ],
  parts: [{ name: "hand", joints: ["hand", "thumb"], curves: ["grip"] }],
  clips: { slots: 2, names: ["walk", "wave"] },
  coarser: [4],
});

export const JOINTS = Object.freeze([
  { name: "hip", bind: { translationCm: [0, 95, 0] } },
  { name: "spine", parent: "hip", bind: { translationCm: [0, 20.5, 0] } },
  { name: "arm", parent: 1, bind: { translationCm: [18, 25, 0], rotation: [0, 0, 0.6, 0.8] } },
  { name: "hand", parent: "arm", bind: { translationCm: [50, 0, 0], scale: [1, 1, 1] } },
  { name: "thumb", parent: "hand", bind: { translationCm: [4, 0, 3], rotation: [0, 0.6, 0, 0.8] } },
  { name: "lamp", parent: "spine", bind: { translationCm: [0, 45, 10] } },
]);

export function figureTests(read) {
  return {
    "bodies of a receiver have the recorded poses": async () => {
      replayReceiver(linesOf(await read("figures")));
    },
    "bodies of a viewer have the recorded poses": async () => {
      replayViewer(linesOf(await read("figures")));
    },
    "joints by hand, from a file and from a skeleton of clips are the same figure": async () => {
      const [[, file], [, , , schema]] = linesOf(await read("figures"));
      const world = receiverOf(schema);
      const pairs = { ...OPTIONS, jointPrecisionsCm: [[3, 0.1]], motions: new Map([
        [0, { rangeCm: 500 }], ["thumb", { hinge: [0, 1, 0] }], [5, "turns"], [5, "still"],
      ]) };
      for (const skeleton of [JOINTS, bytesOf(file), new Skeleton(bytesOf(file))]) {
        for (const options of [OPTIONS, pairs]) {
          const figure = new Figure(skeleton, options);
          expect(figure.names.join() === "hip,spine,arm,hand,thumb,lamp", "the names");
          expect(figure.parents.join() === "-1,0,1,2,3,1", "the parents");
          expect(figure.curveNames.join() === "smile,grip", "the curves");
          expect(figure.partNames.join() === "hand", "the parts");
          expect(figure.maxErrorsCm[1] <= 0.4 && figure.maxErrorsCm[3] <= 0.1, "the precisions");
          const bodies = new FigurePlayer(figure, world, "player");
          expect(bodies.play() === 0 && bodies.ids.length === 0, "no bodies yet");
          bodies.free();
          figure.free();
        }
      }
    },
    "a kind of another figure is refused, and the error says why": async () => {
      const [, [, , , schema]] = linesOf(await read("figures"));
      const world = receiverOf(schema);
      const other = (options, joints = JOINTS) => () => {
        return new FigurePlayer(new Figure(joints, { ...OPTIONS, ...options }), world, "player");
      };
      other({})().free();
      expectError(other({ precisionCm: 0.5 }), "other limits");
      expectError(other({ jointPrecisionsCm: undefined }), "other limits");
      const [smile, grip] = OPTIONS.curves;
      expectError(other({ curves: [{ ...smile, max: 2 }, grip] }), "other limits");
      const motions = { ...OPTIONS.motions, thumb: { hinge: [1, 0, 0] } };
      expectError(other({ motions }), "axes of hinges");
      expectError(other({ clips: { slots: 2, names: ["wave", "walk"] } }), "other names");
      const moved = JOINTS.map((joint) => (joint.name === "lamp" ? { ...joint, bind: {} } : joint));
      expectError(other({}, moved), "other bind poses");
      const fewer = other({ curves: [grip] });
      expectError(fewer, 'is "curves[smile]", and the figure\'s is "curves[grip]"');
      const more = other({ curves: [smile, grip, { ...grip, name: "x" }] });
      expectError(more, 'is "tiers[1].parts[0 hand]?", and the figure\'s is "curves[x]"');
      const figure = new Figure(JOINTS, OPTIONS);
      const riders = new FigurePlayer(figure, world, "rider");
      expect(riders.play() === 0, "a kind with other fields too");
      const finer = new Figure(JOINTS, { ...OPTIONS, precisionCm: 0.3 });
      expectError(() => new FigurePlayer(finer, world, "rider"), "other limits");
      const lost = new Figure(JOINTS, { ...OPTIONS, curves: [grip] });
      expectError(() => new FigurePlayer(lost, world, "rider"), 'is "curves[smile]", and');
      expectError(() => new FigurePlayer(figure, world, "beacon"), "the kind \"beacon\" is not");
      expectError(() => new FigurePlayer(figure, world, "players"), 'it has "beacon", "player"');
      expectError(() => new FigurePlayer(figure, {}, "player"), "a Receiver or a Viewer");
    },
    "numbers that are no moment are refused": () => {
      const figure = new Figure(JOINTS, OPTIONS);
      const memory = new WebAssembly.Memory({ initial: 1 });
      const words = new Uint32Array(memory.buffer);
      // Twelve numbers of two slots, the tier, and in each of two tiers a flag, six numbers of the
      // hip, nine of other joints, one of the thumb, and two curves.
      const numbers = 3 + 2 * 51;
      let length = 2 * numbers;
      const inner = { keep_lanes() {}, lanes_at: () => 0, lanes_len: () => length, tick: () => 7 };
      const schema = { kinds: [{ name: "", hash: figure.inner.hash(), fields: [] }] };
      const bodies = new FigurePlayer(figure, { schema, [INNER]: () => ({ inner, memory }) });
      expect(bodies.play() === 2 && !bodies.isPresent(1, "hand"), "two bodies without hands");
      expect(bodies.clip(1, 1) === undefined, "no clips");
      expectError(() => bodies.clip(1, 2), "there is no slot 2; there are 2");
      expect(bodies.pose(1).translations[4] === Math.fround(0.205), "a bind pose");
      for (const wrong of [1, numbers - 1, numbers + 3]) {
        length = wrong;
        expectError(() => bodies.play(), "another kind");
        expect(bodies.count === 0 && bodies.ids.length === 0, "no bodies");
      }
      const random = randomNumbers();
      for (let attempt = 0; attempt < 300; attempt += 1) {
        length = numbers;
        for (let at = 0; at < numbers; at += 1) words[at] = random() << (attempt % 9);
        expectError(() => bodies.play(), "");
      }
      // Any bits of a ratio are taken.
      words.fill(0);
      for (const ratio of [NaN, -1, 0.5, 1, Infinity]) {
        new Float32Array(memory.buffer)[1] = ratio;
        expect(bodies.play() === 1, "a body");
      }
    },
    "wrong skeletons and options of figures say what is wrong": async () => {
      const [[, file]] = linesOf(await read("figures"));
      const bytes = bytesOf(file);
      for (let at = 0; at < bytes.length; at += 1) {
        expectError(() => new Figure(bytes.slice(0, at)), "");
      }
      const make = (options, joints = JOINTS) => () => new Figure(joints, options);
      expectError(make({}, "skeleton.bin"), "an array of joints");
      expectError(make({}, [{ parent: "hip" }]), 'no joint "hip"');
      expectError(make({}, [{ parent: 0 }]), "joint 0");
      expectError(make({}, [{ bind: { rotation: [0, 0, 1] } }]), "rotation must be 4 numbers");
      expectError(make({}, [{ bind: { scale: [1, 1, NaN] } }]), "joint 0");
      expectError(make({ precisionCm: 0 }), "precision_cm");
      expectError(make({ shellCm: NaN }), "shell_cm");
      expectError(make({ precisionCm: 1e-9 }), "too coarse");
      expectError(make({ jointPrecisionsCm: { tail: 1 } }), 'no joint "tail"');
      expectError(make({ jointPrecisionsCm: [[6, 1]] }), "no joint 6");
      expectError(make({ motions: { hip: "moves" } }), 'not "moves"');
      expectError(make({ motions: { hip: { hinge: [0, 1] } } }), "hinge must be 3 numbers");
      expectError(make({ motions: { hip: { hinge: [0, 0, 0] } } }), "axis of joint 0");
      expectError(make({ curves: [{ name: "grip", min: 1, max: 0, precision: 0.1 }] }), "curve 0");
      expectError(make({ parts: [{ name: "hand", joints: ["hand"] }] }), "part 0");
      expectError(make({ clips: { slots: 0, names: ["walk"] } }), "0 slots cannot play 1 clips");
      expectError(make({ parts: [{ name: "face", curves: ["smile"] }] }), 'no curve "smile"');
      // The module goes on.
      expect(new Figure(JOINTS).maxErrorsCm.length === 6, "a figure");
    },
  };
}

function receiverOf(schema) {
  return new snapshots.Receiver({ schema: bytesOf(schema), level: "adaptive", tickHz: 60 });
}

// The hash that `tests/recorded/figures.rs` computes.
function hashOfBodies(bodies) {
  const poses = Array.from({ length: bodies.count }, (_, index) => {
    const { translations, rotations, scales, curves } = bodies.pose(index);
    const presence = Uint8Array.of(bodies.isPresent(index, "hand"));
    const clips = [0, 1].flatMap((slot) => {
      const clip = bodies.clip(index, slot);
      if (clip === undefined) return [Uint8Array.of(0)];
      expect(clip.name === ["walk", "wave"][clip.clip], "the name of the clip");
      return [Float64Array.of(clip.clip, clip.timeTicks, clip.speed, clip.weight)];
    });
    return [translations, rotations, scales, curves, presence, ...clips];
  });
  return hashOf([bodies.ids, ...poses.flat()]);
}

function replayReceiver([[, file], [, , , schema], ...calls]) {
  const receiver = receiverOf(schema);
  const figure = new Figure(bytesOf(file), OPTIONS);
  const bodies = new FigurePlayer(figure, receiver, "player");
  // A rider has other fields before and after those of the body.
  const riders = new FigurePlayer(figure, receiver, "rider");
  let [played, hands] = [0, 0];
  for (const [word, first, text, ofRiders] of calls) {
    const now = Number(first);
    if (word === "handle") receiver.handle(bytesOf(text), now);
    else if (word === "transmit") expect(hexOf(receiver.transmit(now)) === text, "the datagram");
    else if (word === "play") {
      const frame = receiver.play(now);
      expect(bodies.play() === bodies.count && bodies.count >= 3, "at least three bodies");
      expect(hashOfBodies(bodies) === text, `the recorded poses at ${now} ms`);
      expect(riders.play() >= 3 && hashOfBodies(riders) === ofRiders, `the riders at ${now} ms`);
      expect(bodies.ids.join() === frame.kind("player").ids.join(), "the ids of the frame");
      hands += bodies.isPresent(0, 0);
      played += 1;
    } else break;
  }
  expect(played > 60 && hands > 10 && hands < played - 10, "a good run");
  checkReuse(receiver, figure, bodies);
  for (const object of [riders, bodies, figure, receiver]) object.free();
}

// Checks that further frames allocate nothing, and what is refused.
function checkReuse(receiver, figure, bodies) {
  receiver.newest();
  bodies.play();
  const [pose, ids, before] = [bodies.pose(1), bodies.ids, memoryBytes()];
  for (let nth = 0; nth < 100; nth += 1) {
    receiver.newest();
    bodies.play();
    expect(bodies.pose(1) === pose && bodies.ids === ids, "the arrays of before");
  }
  expect(memoryBytes() === before, "no more memory");
  const second = new FigurePlayer(figure, receiver, "player");
  expect(second.play() === bodies.count, "the bodies for another player");
  second.free();
  expectError(() => bodies.pose(bodies.count), `there are ${bodies.count}`);
  expectError(() => bodies.pose(-1), "there is no body -1");
  expectError(() => bodies.isPresent(0, "legs"), 'there is no part "legs"');
  expectError(() => bodies.isPresent(9, "hand"), "there is no body 9");
  // The memory grows, and the arrays are made anew.
  const sums = () => bodies.pose(1).rotations.reduce((sum, number) => sum + number, 0);
  const sum = sums();
  const large = JOINTS.concat(Array.from({ length: 9000 }, () => ({ parent: "hip" })));
  new Figure(large).free();
  expect(memoryBytes() > before && sums() === sum, "the same pose in more memory");
}

function replayViewer([[, file], , ...lines]) {
  const start = lines.findIndex(([word]) => word === "viewer");
  const [[, catalogue], ...calls] = lines.slice(start);
  const viewer = new crowd.Viewer(bytesOf(catalogue));
  const figure = new Figure(bytesOf(file), OPTIONS);
  const bodies = new FigurePlayer(figure, viewer, "player");
  const riders = new FigurePlayer(figure, viewer, "rider");
  viewer.watch("full");
  let played = 0;
  for (const [word, first, ...rest] of calls) {
    const now = Number(first);
    if (word === "object") {
      const [track, group, number, hex] = rest;
      viewer.object(track, Number(group), Number(number), bytesOf(hex), now);
    } else {
      viewer.play(now);
      bodies.play();
      expect(hashOfBodies(bodies) === rest[0], `the recorded poses at ${now} ms`);
      riders.play();
      expect(hashOfBodies(riders) === rest[1], `the riders at ${now} ms`);
      played += 1;
    }
  }
  expect(played > 10 && bodies.count >= 3, "a good run");
  for (const object of [riders, bodies, figure, viewer]) object.free();
}
