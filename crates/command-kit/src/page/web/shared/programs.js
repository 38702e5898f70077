// WebGL programs: compiled and linked, with attributes at fixed locations and uniforms by name.

export class Program {
  #gl;
  #program;
  #uniforms = new Map();

  /** `attributes`: locations by name, the same for all programs of a page, so that one vertex array fits all. */
  constructor(gl, [vertex, fragment], attributes) {
    this.#gl = gl;
    this.#program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.#program, shader);
    }
    for (const [name, place] of Object.entries(attributes)) gl.bindAttribLocation(this.#program, place, name);
    gl.linkProgram(this.#program);
    // A lost context cannot link; the page restores it later.
    if (!gl.getProgramParameter(this.#program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = gl.getAttachedShaders(this.#program).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(`a shader doesn't compile: ${logs.join(" ")} ${gl.getProgramInfoLog(this.#program)}`);
    }
    const count = gl.getProgramParameter(this.#program, gl.ACTIVE_UNIFORMS) ?? 0;
    for (let index = 0; index < count; index += 1) {
      const { name, type } = gl.getActiveUniform(this.#program, index);
      this.#uniforms.set(name.replace("[0]", ""), { place: gl.getUniformLocation(this.#program, name), type });
    }
  }

  /** Uses the program, and sets the uniforms that it has. */
  use(values) {
    const gl = this.#gl;
    gl.useProgram(this.#program);
    for (const [name, { place, type }] of this.#uniforms) {
      const value = values[name];
      if (value === undefined) continue;
      if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(place, false, value);
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(place, value);
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(place, value);
      else if (type === gl.FLOAT) gl.uniform1f(place, value);
      else gl.uniform1i(place, value);
    }
  }
}
