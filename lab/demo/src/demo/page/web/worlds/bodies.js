// Bodies in the form that the drawing takes, from columns of numbers as a receiver in the page gives
// them, and the marks of what they cost.

import { BODY_WORDS } from "../protocol.js";

const UPRIGHT = [0, 0, 0, 1];

/** The bodies of all kinds, one kind after the other. Columns may be missing, and positions have up to three axes. Writes the bodies into `words` if that has the right length. */
export function bodiesOf(kinds, words) {
  const length = BODY_WORDS * kinds.reduce((sum, kind) => sum + kind.count, 0);
  const bodies = words.length === length ? words : new Float32Array(length);
  const marks = new Uint32Array(bodies.buffer);
  let at = 0;
  for (const { count, fields: { position, orientation, interacting } } of kinds) {
    const axes = (position?.length ?? 0) / count;
    for (let body = 0; body < count; body += 1, at += BODY_WORDS) {
      for (let axis = 0; axis < 3; axis += 1) bodies[at + axis] = axis < axes ? position[axes * body + axis] : 0;
      for (let part = 0; part < 4; part += 1) bodies[at + 3 + part] = orientation?.[4 * body + part] ?? UPRIGHT[part];
      marks[at + 7] = interacting?.[body] ?? 0;
    }
  }
  return bodies;
}

/** Marks each body with its recent bits. Bit 0 of a mark stays: it is the flag "interacting". */
export function markHeat(words, heat) {
  const marks = new Uint32Array(words.buffer, words.byteOffset, words.length);
  for (let body = 0, at = BODY_WORDS - 1; at < marks.length; body += 1, at += BODY_WORDS) {
    marks[at] = (marks[at] & 1) | (Math.round(16 * (heat[body] ?? 0)) << 1);
  }
}
