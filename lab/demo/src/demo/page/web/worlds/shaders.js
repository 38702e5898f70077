// The shaders of the worlds. An instance is a body as in the program's message. The vertex shader makes
// its corners.

import { FLOOR, GROUND, HEAD } from "../shared/floor.js";

// Where a body's corner is in the world. The first u_players instances are players' cubes.
const CORNER = `
in vec3 a_corner;
in vec3 a_normal;
in vec3 i_position;
in vec4 i_rotation;
in uint i_mark;
uniform mat4 u_view;
uniform float u_half_edge, u_player_half_edge, u_grow;
uniform int u_players;

vec3 rotate(vec3 v) {
  return v + 2.0 * cross(i_rotation.xyz, cross(i_rotation.xyz, v) + i_rotation.w * v);
}

bool is_player() { return gl_InstanceID < u_players; }

vec3 corner() {
  float half_edge = is_player() ? u_player_half_edge : u_half_edge;
  return i_position + rotate(a_corner * (half_edge + u_grow));
}
`;

const BODY_VERTEX = `${HEAD}${CORNER}
uniform vec3 u_light;
uniform vec3 u_cube, u_interacting, u_player_colour;
uniform vec3 u_ramp[5];
uniform bool u_heat;
flat out vec3 v_colour;

// The colour follows the square root of the bits, up to 100. Most moving cubes cost 10 to 60.
vec3 heat_colour(float bits) {
  float at = min(sqrt(bits / 100.0), 1.0) * 4.0;
  int below = min(int(at), 3);
  return mix(u_ramp[below], u_ramp[below + 1], at - float(below));
}

void main() {
  vec3 normal = rotate(a_normal);
  vec3 base = is_player() ? u_player_colour : (i_mark & 1u) == 1u ? u_interacting : u_cube;
  if (u_heat) base = heat_colour(float(i_mark >> 1) / 16.0);
  float sky = 0.5 + 0.5 * normal.z;
  float lit = 0.44 + 0.16 * sky + 0.42 * max(dot(normal, u_light), 0.0);
  // Higher cubes are a little lighter, so that a heap is visible.
  v_colour = base * lit * (0.97 + 0.06 * clamp(i_position.z / 4.0, 0.0, 1.0));
  gl_Position = u_view * vec4(corner(), 1.0);
}
`;

const BODY_FRAGMENT = `${HEAD}
flat in vec3 v_colour;
out vec4 colour;
void main() { colour = vec4(v_colour, 1.0); }
`;

const OUTLINE_VERTEX = `${HEAD}${CORNER}
void main() { gl_Position = u_view * vec4(corner(), 1.0); }
`;

const OUTLINE_FRAGMENT = `${HEAD}
uniform vec3 u_mark;
out vec4 colour;
void main() { colour = vec4(u_mark, 1.0); }
`;

// Bodies flattened onto the floor along the light. One opaque colour, so that shadows do not add up.
const SHADOW_VERTEX = `${HEAD}${CORNER}
uniform vec3 u_light;
out vec2 v_at;
void main() {
  vec3 at = corner();
  v_at = at.xy - u_light.xy / u_light.z * max(at.z, 0.0);
  gl_Position = u_view * vec4(v_at, 0.0, 1.0);
}
`;

const SHADOW_FRAGMENT = `${HEAD}${GROUND}
uniform vec3 u_shadow;
in vec2 v_at;
out vec4 colour;
void main() { colour = vec4(fade(u_shadow, v_at), 1.0); }
`;

// The walls: four low bands that fade upwards.
const WALL_VERTEX = `${HEAD}
uniform mat4 u_view;
uniform float u_half_width;
out float v_height;
void main() {
  int side = gl_VertexID / 6;
  int corner = gl_VertexID % 6;
  vec2 at = vec2(corner == 1 || corner == 2 || corner == 4 ? 1.0 : -1.0, corner == 2 || corner == 4 || corner == 5 ? 1.0 : 0.0);
  vec2 along = vec2(at.x, side < 2 ? 1.0 : -1.0) * u_half_width;
  v_height = at.y;
  gl_Position = u_view * vec4((side & 1) == 0 ? along : along.yx, at.y * 1.6, 1.0);
}
`;

const WALL_FRAGMENT = `${HEAD}
uniform vec3 u_grid;
in float v_height;
out vec4 colour;
void main() {
  float alpha = 0.55 * (1.0 - v_height) * (1.0 - v_height);
  colour = vec4(u_grid * alpha, alpha);
}
`;

export const SHADERS = {
  floor: FLOOR,
  shadow: [SHADOW_VERTEX, SHADOW_FRAGMENT],
  body: [BODY_VERTEX, BODY_FRAGMENT],
  outline: [OUTLINE_VERTEX, OUTLINE_FRAGMENT],
  wall: [WALL_VERTEX, WALL_FRAGMENT],
};
