// Requests to the program. The answers are checked here, so the rest of the page trusts what these functions return.

import { ask, checked, has, isObject } from "./shared/ask.js";

const HEAD_BYTES = 16;
const NUMBERS = 6;

const isJoint = (joint, index) => isObject(joint) && has(joint, "string", "name") && has(joint, "number", "max_error_cm")
  && (joint.parent === null || (Number.isInteger(joint.parent) && joint.parent >= 0 && joint.parent < index));
const isCurve = (curve) => isObject(curve) && has(curve, "string", "name") && has(curve, "number", "min", "max");

/** The description of the body, or only `{session: 0, refused}` before one arrives. */
export async function fetchBody() {
  const body = await (await ask("body")).json();
  checked(body, isObject(body) && has(body, "number", "session"));
  if (body.session === 0) return body;
  return checked(body, has(body, "number", "precision_cm", "max_error_cm", "rate_hz")
    && Array.isArray(body.joints) && body.joints.every(isJoint) && Array.isArray(body.curves) && body.curves.every(isCurve));
}

/** The pose now: `{session, state, numbers, positions, curves}`. Positions are in cm, and empty before the first pose. */
export async function fetchPose() {
  const bytes = await (await ask("pose")).arrayBuffer();
  checked(bytes, bytes.byteLength >= HEAD_BYTES && bytes.byteLength % 4 === 0);
  const view = new DataView(bytes);
  const [session, state, joints, curves] = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  const floats = new Float32Array(bytes, HEAD_BYTES);
  checked(floats, session === 0 || floats.length === NUMBERS + 3 * joints + curves);
  const [bytes_per_s, bits_per_pose, poses_per_s, lost_ratio, delay_ms, round_trip_ms] = floats;
  return {
    session, state: ["waiting", "live", "silent"][state],
    numbers: { bytes_per_s, bits_per_pose, poses_per_s, lost_ratio, delay_ms, round_trip_ms },
    positions: floats.subarray(NUMBERS, NUMBERS + 3 * joints), curves: floats.subarray(NUMBERS + 3 * joints),
  };
}
