// Draws both skeletons on top of each other or side by side, or only one of them. Passes: the floor, the raw skeleton as wide neutral
// bands, and on it the compressed skeleton as narrower bands in the colours of its errors.

import { Figures } from "./figures.js";
import { Program } from "../shared/programs.js";
import { ATTRIBUTES, SHADERS } from "./shaders.js";
import { colours, rgb } from "../shared/theme.js";

const RAW_PX = 6;
const CLIP_PX = 3;
/** The largest distance of a click from a joint that selects it. */
const PICK_PX = 14;
/** Skeletons with at least this many joints have smaller dots. */
const MANY_JOINTS = 120;

/** The skeletons that each view shows. */
const VIEWS = { both: [[0, 1]], raw: [[0]], clip: [[1]], beside: [[0], [1]] };

export class Scene {
  /** `both`, `raw`, `clip` or `beside`. */
  show = "both";
  selected = null;
  #canvas;
  #gl;
  #programs;
  #figures;
  #parents = null;
  #precision_cm = 1;
  #drawn = "";
  #size = null;

  /** Throws if there is no WebGL2. */
  constructor(canvas) {
    this.#canvas = canvas;
    this.#gl = canvas.getContext("webgl2", { antialias: true, alpha: true, powerPreference: "high-performance" });
    if (!this.#gl) throw new Error("this browser has no WebGL2");
    this.#build();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.#build());
    const measure = () => { this.#size = null; };
    new ResizeObserver(measure).observe(canvas);
    window.addEventListener("resize", measure);
  }

  /** Begins a clip, with the parent of each joint and the clip's precision. */
  begin(parents, precision_cm) {
    this.#parents = parents;
    this.#precision_cm = precision_cm;
    this.#figures.begin(parents);
    this.#drawn = "";
  }

  get aspect() {
    const { width, height } = this.#measure();
    return width / VIEWS[this.show].length / Math.max(1, height);
  }

  /** The joint at a place of the canvas in CSS pixels, or null. */
  pick([x, y], view, motion) {
    const { width, height } = this.#measure();
    const views = VIEWS[this.show];
    const each = width / views.length;
    const index = Math.min(views.length - 1, Math.max(0, Math.floor(x / each)));
    const positions = views[index].at(-1) === 0 ? motion.raw : motion.clip;
    const m = view.matrix;
    let nearest = null;
    let nearest_px = PICK_PX;
    for (let joint = 0; joint < motion.joints; joint += 1) {
      const [px, py, pz] = positions.subarray(joint * 3, joint * 3 + 3);
      const [cx, cy, cw] = [0, 1, 3].map((row) => m[row] * px + m[4 + row] * py + m[8 + row] * pz + m[12 + row]);
      if (cw <= 0) continue;
      const away_px = Math.hypot(((cx / cw + 1) / 2) * each + index * each - x, ((1 - cy / cw) / 2) * height - y);
      if (away_px < nearest_px) {
        nearest = joint;
        nearest_px = away_px;
      }
    }
    return nearest;
  }

  /** Draws if the camera's `view`, the `floor` or the `state` of the motion changed. */
  draw(view, floor, motion, state) {
    const gl = this.#gl;
    if (!this.#parents || gl.isContextLost()) return;
    const { width, height, ratio } = this.#measure();
    const all = [view.matrix.join(), this.show, this.selected, colours.version, width, height, ratio, state].join();
    if (all === this.#drawn) return;
    this.#drawn = all;
    this.#figures.upload(0, motion.raw, motion.errors);
    this.#figures.upload(1, motion.clip, motion.errors);
    const views = VIEWS[this.show];
    const size = [Math.round((width * ratio) / views.length), Math.round(height * ratio)];
    const values = this.#values(view, floor, size);
    gl.enable(gl.SCISSOR_TEST);
    for (const [index, figures] of views.entries()) {
      gl.viewport(index * size[0], 0, ...size);
      gl.scissor(index * size[0], 0, size[0] - (index + 1 < views.length ? ratio : 0), size[1]);
      gl.clearColor(...rgb("sky"), 1);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      this.#drawFloor(values, view, floor);
      for (const figure of figures) this.#drawFigure(figure, values, ratio);
    }
  }

  /** The floor is not drawn from below. */
  #drawFloor(values, view, floor) {
    const gl = this.#gl;
    if (view.eye[2] <= floor.height_m) return;
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    this.#programs.floor.use({ ...values, u_view: lifted(view.matrix, floor.height_m) });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  #drawFigure(figure, values, ratio) {
    this.#gl.enable(this.#gl.DEPTH_TEST);
    const many = this.#parents.length > MANY_JOINTS;
    const width = (figure === 0 ? RAW_PX : CLIP_PX) * ratio;
    const own = { ...values, u_by_error: figure, u_lift: figure === 0 ? 0 : 1e-5 };
    this.#programs.bone.use({ ...own, u_width: width * (many ? 0.7 : 1) });
    this.#figures.drawBones(figure);
    this.#programs.joint.use({ ...own, u_width: (width + 3 * ratio) * (many ? 0.6 : 1), u_lift: own.u_lift + 4e-6 });
    this.#figures.drawJoints(figure);
  }

  #values(view, floor, size) {
    return {
      u_view: view.matrix, u_size: size, u_precision: this.#precision_cm,
      u_selected: this.selected ?? -1,
      u_colour: rgb("bone"), u_ramp: [0, 1, 2].flatMap((stop) => rgb(`error-${stop}`)), u_mark: rgb("mark"),
      u_sky: rgb("sky"), u_floor: rgb("floor"), u_grid: rgb("grid"), u_half_width: floor.half_width_m, u_step: floor.step_m,
    };
  }

  #measure() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (this.#size?.ratio === ratio) return this.#size;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    this.#canvas.width = Math.max(1, Math.round(width * ratio));
    this.#canvas.height = Math.max(1, Math.round(height * ratio));
    this.#size = { width, height, ratio };
    return this.#size;
  }

  #build() {
    const gl = this.#gl;
    this.#programs = Object.fromEntries(Object.entries(SHADERS).map(([name, sources]) => [name, new Program(gl, sources, ATTRIBUTES)]));
    this.#figures = new Figures(gl);
    if (this.#parents) this.#figures.begin(this.#parents);
    this.#drawn = "";
  }
}

/** A view's matrix for things that are `height_m` higher. */
function lifted(matrix, height_m) {
  const all = Float32Array.from(matrix);
  for (let row = 0; row < 4; row += 1) all[12 + row] += matrix[8 + row] * height_m;
  return all;
}
