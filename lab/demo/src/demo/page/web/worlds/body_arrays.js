// The buffers of the worlds: the corners of one box, and the bodies of each view.

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
  /** Each view's buffer and its size. */
  #bodies;

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
    this.#bodies = this.worlds.map((array) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      this.#point(array);
      return { buffer, capacity_bytes: 0 };
    });
  }

  /** Takes the bodies of a view. */
  upload(view, bodies) {
    const gl = this.#gl;
    const into = this.#bodies[view];
    gl.bindBuffer(gl.ARRAY_BUFFER, into.buffer);
    if (bodies.byteLength > into.capacity_bytes) {
      gl.bufferData(gl.ARRAY_BUFFER, bodies, gl.DYNAMIC_DRAW);
      into.capacity_bytes = bodies.byteLength;
    } else {
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, bodies);
    }
  }

  /** Binds one box in the pose of `body` (eight words of the message), to be drawn without instances. */
  bindSingle(body) {
    const gl = this.#gl;
    gl.bindVertexArray(this.#single);
    gl.vertexAttrib3f(ATTRIBUTES.i_position, body[0], body[1], body[2]);
    gl.vertexAttrib4f(ATTRIBUTES.i_rotation, body[3], body[4], body[5], body[6]);
    gl.vertexAttribI4ui(ATTRIBUTES.i_mark, 0, 0, 0, 0);
  }

  #point(array) {
    const gl = this.#gl;
    const { i_position, i_rotation, i_mark } = ATTRIBUTES;
    gl.bindVertexArray(array);
    for (const place of [i_position, i_rotation, i_mark]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.vertexAttribPointer(i_position, 3, gl.FLOAT, false, BODY_BYTES, 0);
    gl.vertexAttribPointer(i_rotation, 4, gl.FLOAT, false, BODY_BYTES, 12);
    gl.vertexAttribIPointer(i_mark, 1, gl.UNSIGNED_INT, BODY_BYTES, 28);
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
