// The floor: a square grid with a line every u_step metres, which fades into the sky beyond its half width.

/** The beginning of every shader. */
export const HEAD = `#version 300 es
precision highp float;
precision highp int;
`;

/** Floor and sky meet beyond the half width. */
export const GROUND = `
uniform vec3 u_sky;
uniform float u_half_width;
vec3 fade(vec3 ground, vec2 at) {
  float outside = max(abs(at.x), abs(at.y)) - u_half_width;
  return mix(ground, u_sky, smoothstep(0.0, u_half_width * 0.7, outside));
}
`;

const FLOOR_VERTEX = `${HEAD}
uniform mat4 u_view;
uniform float u_half_width;
out vec2 v_at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  v_at = corner * u_half_width * 1.8;
  gl_Position = u_view * vec4(v_at, 0.0, 1.0);
}
`;

const FLOOR_FRAGMENT = `${HEAD}${GROUND}
uniform vec3 u_floor, u_grid;
uniform float u_step;
in vec2 v_at;
out vec4 colour;

// How much of this pixel the lines at multiples of step_m cover; 0 if they are too dense to see.
float lines(float step_m) {
  vec2 cell = v_at / step_m;
  vec2 width = fwidth(cell);
  vec2 near = abs(fract(cell - 0.5) - 0.5) / width;
  vec2 cover = clamp(1.0 - near, 0.0, 1.0) * (1.0 - smoothstep(0.12, 0.4, width));
  return max(cover.x, cover.y);
}

void main() {
  float line = max(lines(u_step) * 0.28, lines(u_step * 5.0) * 0.6);
  colour = vec4(fade(mix(u_floor, u_grid, line), v_at), 1.0);
}
`;

export const FLOOR = [FLOOR_VERTEX, FLOOR_FRAGMENT];
