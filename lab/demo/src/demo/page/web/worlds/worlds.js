// Draws the worlds. One canvas and one WebGL2 context lie over up to three places of the page. A buffer
// for each view takes its bodies as they are, so there is no work for each body here. The passes: floor, shadows, bodies, the outline of the selected body, walls.

import { ATTRIBUTES, BodyArrays, BOX_VERTICES } from "./body_arrays.js";
import { normalize } from "../shared/matrix.js";
import { Program } from "../shared/programs.js";
import { BODY_WORDS } from "../protocol.js";
import { SHADERS } from "./shaders.js";
import { colours, rgb } from "../shared/theme.js";

const LIGHT = normalize([-0.55, -0.4, 1.15]);
const OUTLINE_PX = 2.5;

export class Worlds {
  heat = false;
  /** How many bodies at the beginning of each view are players' cubes. */
  players = 1;
  #canvas;
  #places;
  #gl;
  #scene = null;
  #hello = null;
  #world = null;
  #uncompressed = null;
  #programs;
  #bodies;
  #boxes = null;
  #paint = { version: -1 };
  #stale = true;

  /** `places` are the elements to draw over: sent, shown, uncompressed. Throws if there is no WebGL2. */
  constructor(canvas, places) {
    this.#canvas = canvas;
    this.#places = places;
    this.#gl = canvas.getContext("webgl2", { antialias: true, alpha: true, powerPreference: "high-performance" });
    if (!this.#gl) throw new Error("this browser has no WebGL2");
    this.#build();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#build();
      this.#stale = true;
    });
    new ResizeObserver(() => this.measureAgain()).observe(canvas);
    window.addEventListener("resize", () => this.measureAgain());
  }

  /** A place was moved, shown or hidden. */
  measureAgain() {
    this.#boxes = null;
  }

  begin(hello) {
    this.#hello = hello;
  }

  /** The view under a point of the canvas in CSS pixels: its world, and the point as −1 to 1. Null if there is none. */
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

  /** Takes the bodies of the first two views, `{sent, shown}`, and those of the third view or null. The next `draw` shows them. */
  show(world, uncompressed) {
    this.#world = world;
    this.#uncompressed = uncompressed;
    this.#upload();
    this.#stale = true;
  }

  #upload() {
    const views = this.#world ? [this.#world.sent, this.#world.shown, this.#uncompressed] : [];
    for (const [view, bodies] of views.entries()) if (bodies) this.#bodies.upload(view, bodies);
  }

  /** Draws if the world, the camera's `view`, the body `marked` (or null), the size or the colours changed. */
  draw(view, marked) {
    if (!this.#hello || !this.#world || this.#gl.isContextLost()) return;
    const boxes = this.#measure();
    const scene = [view.matrix.join(), marked, this.heat, colours.version].join();
    if (!this.#stale && scene === this.#scene) return;
    this.#scene = scene;
    this.#stale = false;
    const values = this.#values(view);
    const gl = this.#gl;
    gl.clearColor(0, 0, 0, 0);
    gl.disable(gl.SCISSOR_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    for (const [index, box] of boxes.entries()) {
      if (box.width === 0) continue;
      const left = Math.round(box.left * box.ratio);
      const bottom = Math.round((box.canvas_height - box.top - box.height) * box.ratio);
      const size = [Math.round(box.width * box.ratio), Math.round(box.height * box.ratio)];
      gl.viewport(left, bottom, ...size);
      gl.scissor(left, bottom, ...size);
      this.#drawWorld(index, values, view, marked, box.height);
    }
  }

  #drawWorld(index, values, view, marked, height_px) {
    const gl = this.#gl;
    const bodies = [this.#world.sent, this.#world.shown, this.#uncompressed][index] ?? [];
    const count = bodies.length / BODY_WORDS;
    gl.clearColor(...values.u_sky, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    this.#programs.floor.use(values);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(this.#bodies.worlds[index]);
    this.#programs.shadow.use(values);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, BOX_VERTICES, count);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.BACK);
    this.#programs.body.use(values);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, BOX_VERTICES, count);
    if (marked !== null && marked < count) this.#drawOutline(bodies, marked, view, height_px, values);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.bindVertexArray(null);
    this.#programs.wall.use(values);
    gl.drawArrays(gl.TRIANGLES, 0, 24);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** The outline: the same box, a little larger and inside out, visible around the body. */
  #drawOutline(bodies, marked, view, height_px, values) {
    const gl = this.#gl;
    const body = bodies.subarray(marked * BODY_WORDS, (marked + 1) * BODY_WORDS);
    const away_m = Math.hypot(body[0] - view.eye[0], body[1] - view.eye[1], body[2] - view.eye[2]);
    this.#bodies.bindSingle(body);
    gl.cullFace(gl.FRONT);
    const u_grow = (OUTLINE_PX * away_m * 2 * view.half_y) / height_px;
    this.#programs.outline.use({ ...values, u_grow, u_players: marked < this.players ? 1 : 0 });
    gl.drawArrays(gl.TRIANGLES, 0, BOX_VERTICES);
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
    const { half_width_m, cube_edge_m, player_edge_m } = this.#hello;
    return {
      ...this.#paint,
      u_view: view.matrix, u_half_width: half_width_m, u_half_edge: cube_edge_m / 2, u_player_half_edge: player_edge_m / 2,
      u_players: this.players, u_heat: this.heat ? 1 : 0, u_grow: 0, u_step: 1,
    };
  }

  /** Measures the places on the canvas and fits the canvas's pixels. Runs only after a resize. */
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
    this.#programs = Object.fromEntries(Object.entries(SHADERS).map(([name, sources]) => [name, new Program(gl, sources, ATTRIBUTES)]));
    this.#bodies = new BodyArrays(gl);
    this.#upload();
  }
}
