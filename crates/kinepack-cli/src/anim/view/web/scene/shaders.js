// The shaders of the skeletons: bones as bands and joints as discs, with the same size in pixels at any distance.

import { FLOOR, HEAD } from "../shared/floor.js";

/** The beginning of all programs. */
export const ATTRIBUTES = { i_from: 0, i_to: 1, i_errors: 2 };

// Blue without an error, orange at the precision, red at twice the precision.
const COLOUR = `
uniform vec3 u_colour;
uniform vec3 u_ramp[3];
uniform float u_precision;
uniform bool u_by_error;
vec3 colour_of(float error) {
  if (!u_by_error) return u_colour;
  float at = clamp(error / u_precision, 0.0, 2.0);
  return at < 1.0 ? mix(u_ramp[0], u_ramp[1], at) : mix(u_ramp[1], u_ramp[2], at - 1.0);
}
`;

const BONE_VERTEX = `${HEAD}
in vec3 i_from, i_to;
in vec2 i_errors;
uniform mat4 u_view;
uniform vec2 u_size;
uniform float u_width, u_lift;
out float v_error;
void main() {
  vec4 from = u_view * vec4(i_from, 1.0);
  vec4 to = u_view * vec4(i_to, 1.0);
  bool is_end = (gl_VertexID & 1) == 1;
  vec4 at = is_end ? to : from;
  vec2 along = (to.xy / to.w - from.xy / from.w) * u_size;
  along = length(along) > 0.01 ? normalize(along) : vec2(1.0, 0.0);
  float side = (gl_VertexID & 2) == 0 ? -1.0 : 1.0;
  at.xy += vec2(-along.y, along.x) * side * u_width / u_size * at.w;
  at.z -= u_lift * at.w;
  v_error = is_end ? i_errors.y : i_errors.x;
  // Skips a bone if one of its ends is not in front of the eye.
  gl_Position = from.w > 0.0 && to.w > 0.0 ? at : vec4(2.0, 2.0, 2.0, 1.0);
}
`;

const BONE_FRAGMENT = `${HEAD}${COLOUR}
in float v_error;
out vec4 colour;
void main() { colour = vec4(colour_of(v_error), 1.0); }
`;

const JOINT_VERTEX = `${HEAD}
in vec3 i_from;
in vec2 i_errors;
uniform mat4 u_view;
uniform vec2 u_size;
uniform float u_width, u_lift;
uniform int u_selected;
out vec2 v_at;
out float v_error;
flat out float v_radius;
flat out int v_selected;
void main() {
  v_selected = gl_InstanceID == u_selected ? 1 : 0;
  v_radius = u_width / 2.0 + (v_selected == 1 ? 4.0 : 0.5);
  v_at = (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0) * v_radius;
  vec4 at = u_view * vec4(i_from, 1.0);
  at.xy += v_at * 2.0 / u_size * at.w;
  at.z -= (v_selected == 1 ? 2.0 : 1.0) * u_lift * at.w;
  v_error = i_errors.x;
  gl_Position = at;
}
`;

const JOINT_FRAGMENT = `${HEAD}${COLOUR}
uniform vec3 u_mark;
uniform float u_width;
in vec2 v_at;
in float v_error;
flat in float v_radius;
flat in int v_selected;
out vec4 colour;
void main() {
  float away = length(v_at);
  if (away > v_radius) discard;
  bool ring = v_selected == 1 && away > v_radius - 2.5;
  colour = vec4(ring ? u_mark : colour_of(v_error), 1.0);
}
`;

export const SHADERS = { floor: FLOOR, bone: [BONE_VERTEX, BONE_FRAGMENT], joint: [JOINT_VERTEX, JOINT_FRAGMENT] };
