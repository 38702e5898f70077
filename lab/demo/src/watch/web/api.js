// Requests to the program. The answers are checked here, so the rest of the page trusts what these functions return.

import { parseBinary } from "./protocol.js";
import { ask, checked, has, isObject } from "./shared/ask.js";

const arePairs = (list, first, second) => Array.isArray(list)
  && list.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === first && typeof pair[1] === second);
const isReplay = (replay) => isObject(replay) && has(replay, "string", "program", "file", "name", "level")
  && has(replay, "number", "rate_hz", "bodies", "half_width_m", "cube_edge_m", "player_edge_m") && has(replay, "boolean", "is_complete")
  && (replay.ticks === null || (Array.isArray(replay.ticks) && replay.ticks.length === 2 && replay.ticks.every(Number.isFinite)))
  && arePairs(replay.groups, "number", "number") && arePairs(replay.markers, "number", "string") && arePairs(replay.info, "string", "string")
  && Array.isArray(replay.damage);

/** The description of the replay. */
export async function fetchReplay() {
  const replay = await (await ask("replay")).json();
  return checked(replay, isReplay(replay));
}

/** The world at a moment, in ticks. */
export async function fetchWorld(tick) {
  const message = parseBinary(await (await ask(`world/${tick}`)).arrayBuffer());
  return checked(message?.value, message?.kind === "world");
}

/** `[tick, bytes]` of each frame of a group. */
export async function fetchFrames(group) {
  const frames = await (await ask(`frames/${group}`)).json();
  return checked(frames, arePairs(frames, "number", "number"));
}
