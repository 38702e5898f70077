// The buffers of both skeletons: an instance of eight floats for each bone and each joint, written again for each frame.

import { ATTRIBUTES } from "./shaders.js";

/** Two ends and the error at each. Both ends of a joint are the same. */
const FLOATS = 8;
const BYTES = FLOATS * 4;

export class Figures {
  bones = 0;
  joints = 0;
  #gl;
  #parents = [];
  #figures;
  #floats = new Float32Array(0);

  constructor(gl) {
    this.#gl = gl;
    this.#figures = ["raw", "clip"].map(() => ({ buffer: gl.createBuffer(), bones: gl.createVertexArray(), joints: gl.createVertexArray() }));
  }

  /** Begins a skeleton, with the parent of each joint, or null. */
  begin(parents) {
    this.#parents = [...parents.entries()].filter(([, parent]) => parent !== null);
    this.joints = parents.length;
    this.bones = this.#parents.length;
    this.#floats = new Float32Array((this.bones + this.joints) * FLOATS);
    for (const { buffer, bones, joints } of this.#figures) {
      this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, buffer);
      this.#gl.bufferData(this.#gl.ARRAY_BUFFER, this.#floats.byteLength, this.#gl.DYNAMIC_DRAW);
      this.#point(bones, 0);
      this.#point(joints, this.bones * BYTES);
    }
  }

  /** Sets the positions and errors of a skeleton's joints. Skeleton 0 is the raw one, 1 the compressed one. */
  upload(figure, positions, errors) {
    let at = 0;
    const write = (from, to) => {
      for (const joint of [from, to]) {
        for (let axis = 0; axis < 3; axis += 1) this.#floats[at++] = positions[joint * 3 + axis];
      }
      this.#floats[at++] = errors[from];
      this.#floats[at++] = errors[to];
    };
    for (const [joint, parent] of this.#parents) write(parent, joint);
    for (let joint = 0; joint < this.joints; joint += 1) write(joint, joint);
    this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.#figures[figure].buffer);
    this.#gl.bufferSubData(this.#gl.ARRAY_BUFFER, 0, this.#floats);
  }

  drawBones(figure) {
    this.#gl.bindVertexArray(this.#figures[figure].bones);
    this.#gl.drawArraysInstanced(this.#gl.TRIANGLE_STRIP, 0, 4, this.bones);
  }

  drawJoints(figure) {
    this.#gl.bindVertexArray(this.#figures[figure].joints);
    this.#gl.drawArraysInstanced(this.#gl.TRIANGLE_STRIP, 0, 4, this.joints);
  }

  #point(array, begin) {
    const gl = this.#gl;
    gl.bindVertexArray(array);
    for (const [place, size, offset] of [[ATTRIBUTES.i_from, 3, 0], [ATTRIBUTES.i_to, 3, 12], [ATTRIBUTES.i_errors, 2, 24]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribDivisor(place, 1);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, BYTES, begin + offset);
    }
    gl.bindVertexArray(null);
  }
}
