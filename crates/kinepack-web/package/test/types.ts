// The types as a program uses them. The TypeScript compiler checks this file, which never runs.

import { ClipPlayer, Skeleton, load as loadClips } from "../clips.js";
import { connect } from "../connection.js";
import { Viewer, Watching, load as loadCrowd } from "../crowd.js";
import type { Frame, ReceiverStats } from "../snapshots.js";
import { InputSender, Receiver, describeSchema, load, splitDatagram } from "../snapshots.js";

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
  const damage = frame?.events[0]?.values.damage;
  const input = new InputSender({ schema, rateHz: 60 });
  input.push({ thrust: [0, 1], fire: true, weapon: 2, serial: 7n });
  const stats: ReceiverStats = receiver.stats();
  const player = new ClipPlayer(datagram, new Skeleton(schema));
  const pose = player.sample(0.5);
  await loadCrowd();
  const watching = new Watching("https://example.org/cubes", { tiers: ["full"], historyS: 60, onLink: ({ reason }) => reason?.length });
  const seen: Frame | undefined = watching.viewer?.playAt(watching.viewer.history()?.first ?? 0);
  new Viewer(schema).object("full", 0n, 1, datagram, seen?.tick);
  // @ts-expect-error there is no such level
  new Receiver({ schema, level: "best", tickHz: 60 });
  // @ts-expect-error the ticks a second are missing
  new Receiver({ schema });
  return positions[0]! + Number(damage) + stats.delayMs + pose.rotations[3]!
    + describeSchema(schema).kinds.length;
}
