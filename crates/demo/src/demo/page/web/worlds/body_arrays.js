// The buffers of the worlds: the corners of one box, and the bodies of all views. The first two views
// use the bytes of the program's message unchanged, so there is no work for each body here.

import { BODY_WORDS } from "../protocol.js";

/** The attribute locations, the same in all shader programs. */
export const ATTRIBUTES = { a_corner: 0, a_normal: 1, i_position: 2, i_rotation: 3, i_mark: 4 };
const BODY_BYTES = BODY_WORDS * 4;
export const BOX_VERTICES = 36;

export class BodyArrays {
  /** A vertex array for each view: sent, shown, uncompressed. */
  worlds;
  #gl;
  #single;
  #instances;
  #uncompressed;
  #capacity_bytes = 0;
  #sent_bytes = -1;

  constructor(gl) {
    this.#gl = gl;
    const box = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, box);
    gl.bufferData(gl.ARRAY_BUFFER, boxVertices(), gl.STATIC_DRAW);
    const withBox = () => {
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      for (const [place, offset] of [[ATTRIBUTES.a_corner, 0], [ATTRIBUTES.a_normal, 12]]) {
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, offset);
      }
      return array;
    };
    this.worlds = [withBox(), withBox(), withBox()];
    this.#single = withBox();
    this.#instances = gl.createBuffer();
    this.#uncompressed = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#uncompressed);
    this.#point(this.worlds[2], 0);
  }

  upload({ sent, shown }) {
    const gl = this.#gl;
    const bytes = new Uint8Array(sent.buffer, sent.byteOffset, sent.byteLength + shown.byteLength);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#instances);
    if (bytes.byteLength > this.#capacity_bytes) {
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
      this.#capacity_bytes = bytes.byteLength;
    } else {
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, bytes);
    }
    // The second world's bodies follow the first one's.
    if (sent.byteLength !== this.#sent_bytes) {
      this.#sent_bytes = sent.byteLength;
      this.#point(this.worlds[0], 0);
      this.#point(this.worlds[1], sent.byteLength);
    }
  }

  /** The bodies of the third view. */
  uploadUncompressed(bodies) {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#uncompressed);
    gl.bufferData(gl.ARRAY_BUFFER, bodies, gl.DYNAMIC_DRAW);
  }

  /** Binds one box in the pose of `body` (eight words of the message), to be drawn without instances. */
  bindSingle(body) {
    const gl = this.#gl;
    gl.bindVertexArray(this.#single);
    gl.vertexAttrib3f(ATTRIBUTES.i_position, body[0], body[1], body[2]);
    gl.vertexAttrib4f(ATTRIBUTES.i_rotation, body[3], body[4], body[5], body[6]);
    gl.vertexAttribI4ui(ATTRIBUTES.i_mark, 0, 0, 0, 0);
  }

  #point(array, begin) {
    const gl = this.#gl;
    const { i_position, i_rotation, i_mark } = ATTRIBUTES;
    gl.bindVertexArray(array);
    for (const place of [i_position, i_rotation, i_mark]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.vertexAttribPointer(i_position, 3, gl.FLOAT, false, BODY_BYTES, begin);
    gl.vertexAttribPointer(i_rotation, 4, gl.FLOAT, false, BODY_BYTES, begin + 12);
    gl.vertexAttribIPointer(i_mark, 1, gl.UNSIGNED_INT, BODY_BYTES, begin + 28);
  }
}

/** Corner and normal of a box's vertices. Faces are counter-clockwise from outside. */
function boxVertices() {
  const vertices = [];
  for (let axis = 0; axis < 3; axis += 1) {
    for (const side of [-1, 1]) {
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0];
        corner[axis] = side;
        corner[(axis + 1) % 3] = u * side;
        corner[(axis + 2) % 3] = v;
        const normal = [0, 0, 0];
        normal[axis] = side;
        vertices.push(...corner, ...normal);
      }
    }
  }
  return new Float32Array(vertices);
}
