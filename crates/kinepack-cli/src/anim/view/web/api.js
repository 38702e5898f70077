// Requests to the program. The answers are checked here, so the rest of the page trusts what these functions return.

import { ask, checked, has, isObject } from "./shared/ask.js";

const HEAD_BYTES = 16;

const isLine = (line) => isObject(line) && has(line, "string", "name", "scheme")
  && has(line, "number", "joint_count", "samples", "rate_hz", "duration_s", "raw_bytes", "bytes", "ratio", "max_cm", "precision_cm")
  && has(line, "boolean", "compiled");
const isErrors = (errors) => isObject(errors) && has(errors, "number", "max_cm", "p99_cm", "mean_cm");
const isTrack = (track) => isObject(track) && has(track, "string", "channel", "kind") && has(track, "number", "keys")
  && (track.bytes === null || typeof track.bytes === "number") && (track.kind !== "animated" || track.bytes !== null);
const isBlocks = (blocks) => isObject(blocks) && has(blocks, "number", "samples", "segments", "components");
const isJoint = (joint, index) => isObject(joint) && has(joint, "string", "name") && isErrors(joint.errors)
  && (joint.parent === null || (Number.isInteger(joint.parent) && joint.parent >= 0 && joint.parent < index))
  && Array.isArray(joint.tracks) && joint.tracks.length === 3 && joint.tracks.every(isTrack);

/** The list of clips. */
export async function fetchList() {
  const list = await json("clips");
  return checked(list, Array.isArray(list) && list.every(isLine));
}

/** The description of a clip, without its motion. */
export async function fetchClip(clip) {
  const detail = await json(`clips/${clip}`);
  return checked(detail, isLine(detail) && has(detail, "number", "shell_cm", "keys", "foot_slide_cm")
    && (detail.blocks === null || isBlocks(detail.blocks)) && isErrors(detail.errors) && isErrors(detail.between)
    && Array.isArray(detail.parts) && Array.isArray(detail.joints) && detail.joints.length === detail.joints.filter(isJoint).length);
}

/** `{count, joints, step, raw, clip, errors}`: positions in cm and errors of all joints, by time; `step` is in half samples. */
export async function fetchPoses(clip) {
  const { head: [count, joints, step], floats } = await binary(`clips/${clip}/poses`);
  checked(floats, count > 0 && step > 0 && floats.length === count * joints * 7);
  const positions = count * joints * 3;
  return {
    count, joints, step,
    raw: floats.subarray(0, positions), clip: floats.subarray(positions, 2 * positions), errors: floats.subarray(2 * positions),
  };
}

/** `{count, size, step, raw, clip, key_times_s, key_values}`: values of `size` floats by time and by key. */
export async function fetchTrack(clip, joint, channel) {
  const { head: [count, size, step, keys], floats } = await binary(`clips/${clip}/tracks/${joint}/${channel}`);
  checked(floats, count > 0 && step > 0 && floats.length === 2 * count * size + keys * (1 + size));
  const keysAt = 2 * count * size;
  return {
    count, size, step,
    raw: floats.subarray(0, count * size), clip: floats.subarray(count * size, keysAt),
    key_times_s: floats.subarray(keysAt, keysAt + keys), key_values: floats.subarray(keysAt + keys),
  };
}

const json = async (path) => (await ask(path)).json();

async function binary(path) {
  const bytes = await (await ask(path)).arrayBuffer();
  checked(bytes, bytes.byteLength >= HEAD_BYTES && bytes.byteLength % 4 === 0);
  const view = new DataView(bytes);
  return { head: [0, 4, 8, 12].map((at) => view.getUint32(at, true)), floats: new Float32Array(bytes, HEAD_BYTES) };
}
