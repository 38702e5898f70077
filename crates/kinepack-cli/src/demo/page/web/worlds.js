// Draws both worlds: one canvas and one WebGL2 context over two places of the page, one buffer with the bytes of the program's
// message as they came. Passes: floor, shadows, bodies, the outline of the body looked at, walls. No work for each body here.

import { ATTRIBUTES, Program } from "./programs.js";
import { SHADERS } from "./shaders.js";
import { colours, rgb } from "./theme.js";
import { normalize } from "./matrix.js";

const BODY_BYTES = 32;
const LIGHT = normalize([-0.55, -0.4, 1.15]);
const OUTLINE_PX = 2.5;

export class Worlds {
  heat = false;
  #canvas;
  #places;
  #gl;
  #scene = null;
  #hello = null;
  #world = null;
  #programs;
  #arrays;
  #instances;
  #capacity_bytes = 0;
  #boxes = null;
  #paint = { version: -1 };
  #stale = true;

  /** `places`: the elements over which the worlds are drawn, sent first. Throws where there is no WebGL2. */
  constructor(canvas, places) {
    this.#canvas = canvas;
    this.#places = places;
    this.#gl = canvas.getContext("webgl2", { antialias: true, alpha: true, powerPreference: "high-performance" });
    if (!this.#gl) throw new Error("this browser has no WebGL2");
    this.#build();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#build();
      if (this.#world) this.show(this.#world);
    });
    const measure = () => { this.#boxes = null; };
    new ResizeObserver(measure).observe(canvas);
    window.addEventListener("resize", measure);
  }

  begin(hello) {
    this.#hello = hello;
  }

  /** The view under a point of the canvas in CSS pixels: which world, and the point as −1 to 1; or null. */
  placeAt([x, y]) {
    for (const [index, box] of this.#measure().entries()) {
      const across = (x - box.left) / box.width;
      const down = (y - box.top) / box.height;
      if (across >= 0 && across < 1 && down >= 0 && down < 1) return { index, x: across * 2 - 1, y: 1 - down * 2, height_px: box.height };
    }
    return null;
  }

  get aspect() {
    const [box] = this.#measure();
    return box.width / Math.max(1, box.height);
  }

  /** Takes a world; it's on screen with the next `draw`. */
  show(world) {
    const gl = this.#gl;
    const bytes = new Uint8Array(world.sent.buffer, world.sent.byteOffset, world.sent.byteLength + world.shown.byteLength);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#instances);
    if (bytes.byteLength > this.#capacity_bytes) {
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
      this.#capacity_bytes = bytes.byteLength;
    } else {
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, bytes);
    }
    const moved = this.#world?.sent.length !== world.sent.length;
    this.#world = world;
    if (moved) this.#pointArrays();
    this.#stale = true;
  }

  /** Draws if something changed: the world, the camera's `view`, the body `marked` (or null), the size, the colours. */
  draw(view, marked) {
    if (!this.#hello || !this.#world || this.#gl.isContextLost()) return;
    const boxes = this.#measure();
    const scene = [view.matrix.join(), marked, this.heat, colours.version].join();
    if (!this.#stale && scene === this.#scene) return;
    this.#scene = scene;
    this.#stale = false;
    const gl = this.#gl;
    gl.clearColor(0, 0, 0, 0);
    gl.disable(gl.SCISSOR_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    for (const [index, box] of boxes.entries()) {
      const left = Math.round(box.left * box.ratio);
      const bottom = Math.round((box.canvas_height - box.top - box.height) * box.ratio);
      const size = [Math.round(box.width * box.ratio), Math.round(box.height * box.ratio)];
      gl.viewport(left, bottom, ...size);
      gl.scissor(left, bottom, ...size);
      this.#drawWorld(index, view, marked, box.height);
    }
  }

  #drawWorld(index, view, marked, height_px) {
    const gl = this.#gl;
    const bodies = index === 0 ? this.#world.sent : this.#world.shown;
    const count = bodies.length / 8;
    const values = this.#values(view);
    gl.clearColor(...values.u_sky, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.#arrays.none);
    this.#programs.floor.use(values);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(this.#arrays.bodies[index]);
    this.#programs.shadow.use(values);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 36, count);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.BACK);
    this.#programs.body.use(values);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 36, count);
    if (marked !== null && marked < count) this.#drawOutline(bodies, marked, view, height_px, values);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.bindVertexArray(this.#arrays.none);
    this.#programs.wall.use(values);
    gl.drawArrays(gl.TRIANGLES, 0, 24);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** The same box, a little larger and inside out: what of it is seen around the body is its outline. */
  #drawOutline(bodies, marked, view, height_px, values) {
    const gl = this.#gl;
    const body = bodies.subarray(marked * 8, marked * 8 + 8);
    const away_m = Math.hypot(body[0] - view.eye[0], body[1] - view.eye[1], body[2] - view.eye[2]);
    const player = this.#hello.has_player && marked === 0;
    gl.bindVertexArray(this.#arrays.single);
    gl.vertexAttrib3f(ATTRIBUTES.i_position, body[0], body[1], body[2]);
    gl.vertexAttrib4f(ATTRIBUTES.i_rotation, body[3], body[4], body[5], body[6]);
    gl.vertexAttribI4ui(ATTRIBUTES.i_mark, 0, 0, 0, 0);
    gl.cullFace(gl.FRONT);
    const u_grow = (OUTLINE_PX * away_m * 2 * view.half_y) / height_px;
    this.#programs.outline.use({ ...values, u_grow, u_player: player ? 0 : -1 });
    gl.drawArrays(gl.TRIANGLES, 0, 36);
  }

  #values(view) {
    if (this.#paint.version !== colours.version) {
      this.#paint = {
        version: colours.version,
        u_light: LIGHT,
        u_sky: rgb("sky"), u_floor: rgb("floor"), u_grid: rgb("grid"), u_shadow: rgb("shadow"),
        u_cube: rgb("cube"), u_interacting: rgb("interacting"), u_player_colour: rgb("player"), u_mark: rgb("mark"),
        u_ramp: [0, 1, 2, 3, 4].flatMap((stop) => rgb(`heat-${stop}`)),
      };
    }
    const { half_width_m, cube_edge_m, player_edge_m, has_player } = this.#hello;
    return {
      ...this.#paint,
      u_view: view.matrix, u_half_width: half_width_m, u_half_edge: cube_edge_m / 2, u_player_half_edge: player_edge_m / 2,
      u_player: has_player ? 0 : -1, u_heat: this.heat ? 1 : 0, u_grow: 0,
    };
  }

  /** Where the places are on the canvas, and the canvas's pixels to match; measured only when something was resized. */
  #measure() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (this.#boxes?.[0].ratio === ratio) return this.#boxes;
    const canvas = this.#canvas.getBoundingClientRect();
    this.#boxes = this.#places.map((place) => {
      const { left, top, width, height } = place.getBoundingClientRect();
      return { left: left - canvas.left, top: top - canvas.top, width, height, canvas_height: canvas.height, ratio };
    });
    this.#canvas.width = Math.max(1, Math.round(canvas.width * ratio));
    this.#canvas.height = Math.max(1, Math.round(canvas.height * ratio));
    this.#stale = true;
    return this.#boxes;
  }

  #build() {
    const gl = this.#gl;
    this.#programs = Object.fromEntries(Object.entries(SHADERS).map(([name, sources]) => [name, new Program(gl, sources)]));
    const cube = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, cube);
    gl.bufferData(gl.ARRAY_BUFFER, cubeVertices(), gl.STATIC_DRAW);
    const withCube = () => {
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, cube);
      for (const [place, offset] of [[ATTRIBUTES.a_corner, 0], [ATTRIBUTES.a_normal, 12]]) {
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, offset);
      }
      return array;
    };
    this.#arrays = { none: gl.createVertexArray(), single: withCube(), bodies: [withCube(), withCube()] };
    this.#instances = gl.createBuffer();
    this.#capacity_bytes = 0;
    if (this.#world) this.#pointArrays();
  }

  /** The right world's bodies begin where the left ones end, which changes with their number. */
  #pointArrays() {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#instances);
    for (const [index, array] of this.#arrays.bodies.entries()) {
      const begin = index === 0 ? 0 : this.#world.sent.byteLength;
      gl.bindVertexArray(array);
      const places = [ATTRIBUTES.i_position, ATTRIBUTES.i_rotation, ATTRIBUTES.i_mark];
      for (const place of places) {
        gl.enableVertexAttribArray(place);
        gl.vertexAttribDivisor(place, 1);
      }
      gl.vertexAttribPointer(places[0], 3, gl.FLOAT, false, BODY_BYTES, begin);
      gl.vertexAttribPointer(places[1], 4, gl.FLOAT, false, BODY_BYTES, begin + 12);
      gl.vertexAttribIPointer(places[2], 1, gl.UNSIGNED_INT, BODY_BYTES, begin + 28);
    }
  }
}

/** Corner and normal of a box's 36 vertices, its faces counter-clockwise from outside. */
function cubeVertices() {
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
