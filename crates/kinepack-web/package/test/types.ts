// The types as a program uses them. The TypeScript compiler checks this file, which never runs.

import { ClipPlayer, Skeleton, load as loadClips } from "../clips.js";
import { connect } from "../connection.js";
import { Viewer, Watching, load as loadCrowd } from "../crowd.js";
import { ClipPlay, Figure, FigurePlayer, FigureSender, load as loadFigures } from "../figures.js";
import type { Frame, InputClockStats, ReceiverStats } from "../snapshots.js";
import { InputClock, InputSender, Receiver, describeSchema, load, splitDatagram } from "../snapshots.js";

export async function use(schema: Uint8Array, datagram: Uint8Array): Promise<number> {
  await load(new URL("https://example.org/snapshots_bg.wasm"));
  await loadClips();
  const receiver = new Receiver({ schema, level: "adaptive", tickHz: 60, events: { schema } });
  for (const part of splitDatagram(datagram)) {
    if (part.for === "receiver") receiver.handle(part.bytes);
  }
  const connection = await connect({
    webTransport: "https://example.org/kinepack?token=0", onDatagram(bytes, { kind, skipped, send }) {
      receiver.handle(bytes);
      if (kind === "websocket" && skipped === 0) send(receiver.transmit() ?? new Uint8Array());
    },
  });
  connection.send(receiver.transmit() ?? new Uint8Array());
  const frame: Frame | undefined = receiver.play();
  const ships = frame?.kind("ship");
  const positions = ships?.fields.position as Float32Array;
  const jumped: Uint32Array | undefined = frame?.cut;
  const aboard: Float64Array | undefined = frame?.kind("sailor").places?.position;
  const damage = frame?.events[0]?.values.damage;
  const input = new InputSender({ schema, rateHz: 60 });
  input.push({ thrust: [0, 1], fire: true, weapon: 2, serial: 7n });
  const clock = new InputClock({ tickHz: 60, inTimeRatio: 0.999, marginMs: 8 });
  if (!clock.isStarted && !clock.startFrom(receiver)) clock.start(100.5);
  const { first, count } = clock.ticks();
  for (let tick = first; tick < first + count; tick += 1) input.pushForTick(tick, { fire: true });
  input.pushLanesForTick(first + count, new Uint32Array(4));
  input.handle(datagram, clock);
  const clockStats: InputClockStats = clock.stats();
  // @ts-expect-error a clock has no time of its own
  clock.tick = clockStats.earlyTicks;
  // @ts-expect-error the ticks a second are missing
  new InputClock({ marginMs: 8 });
  const stats: ReceiverStats = receiver.stats();
  const player = new ClipPlayer(datagram, new Skeleton(schema));
  const pose = player.sample(0.5);
  await loadCrowd();
  const watching = new Watching("https://example.org/cubes", { tiers: ["full"], historyS: 60, onLink: ({ reason }) => reason?.length });
  const seen: Frame | undefined = watching.viewer?.playAt(watching.viewer.history()?.first ?? 0);
  new Viewer(schema).object("full", 0n, 1, datagram, seen?.tick);
  await loadFigures();
  const hand = { name: "hand", parent: "arm", bind: { translationCm: [25, 0, 0] } };
  const byHand = new Figure([{ name: "arm" }, hand], {
    precisionCm: 0.5, motions: { arm: { hinge: [0, 1, 0] } }, jointPrecisionsCm: [[1, 0.1]],
    curves: [{ name: "grip", min: 0, max: 1, precision: 0.01 }],
    parts: [{ name: "hand", joints: ["hand"], curves: [0] }],
    clips: { slots: 1, names: ["walk"] },
  });
  const bodies = new FigurePlayer(byHand, receiver, "player");
  const bend: number | undefined = bodies.play() && bodies.pose(0).curves[0];
  const walked: number = bodies.clip(0)?.timeTicks ?? 0;
  new FigurePlayer(new Figure(new Skeleton(schema)), new Viewer(schema)).isPresent(0, "hand");
  const stream = new InputSender({ schema: byHand.schemaFile(), level: "adaptive", rateHz: 60 });
  const own = new FigureSender(byHand, stream);
  const walk = ClipPlay.start("walk", 100).withSpeed(130, 0.5).withWeight(0.2);
  const sent: number = own.push({ ...byHand.bindPose(), absent: ["hand"], clips: [null, walk], tier: 0 })
    + own.push(bodies.pose(0)) + stream.pushLanes(own.lanes) + walk.timeTicks(140.5);
  // @ts-expect-error the rotations are missing
  own.push({ translations: [0, 0, 0] });
  // @ts-expect-error there is no such motion
  new Figure(schema, { motions: { arm: "moves" } });
  // @ts-expect-error there is no such level
  new Receiver({ schema, level: "best", tickHz: 60 });
  // @ts-expect-error the ticks a second are missing
  new Receiver({ schema });
  return positions[0]! + Number(damage) + (bend ?? 0) + walked + sent + stats.delayMs + pose.rotations[3]!
    + (jumped?.length ?? 0) + (aboard?.[0] ?? 0) + describeSchema(schema).kinds.length;
}
