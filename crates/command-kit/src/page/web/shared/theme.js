// Colours for the canvases, read from the custom properties of base.css, where they are defined.
// They are read again when the system switches between light and dark.

const NAMES = [
  "panel", "line", "text", "muted",
  "sky", "floor", "grid", "shadow", "cube", "interacting", "player", "mark",
  "part-headers", "part-sets", "part-position", "part-orientation", "part-others",
  "line-largest", "line-median", "lost", "packet",
  "heat-0", "heat-1", "heat-2", "heat-3", "heat-4",
  "bone", "error-0", "error-1", "error-2", "axis-x", "axis-y", "axis-z", "axis-w",
];

/** By name: `colours.css["part-sets"]` for 2D canvases. `version` counts the changes. */
export const colours = { css: {}, version: 0 };

function read() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) colours.css[name] = style.getPropertyValue(`--${name}`).trim();
  colours.version += 1;
}

/** The colour as three floats of 0 to 1, for a shader. All are written as #rrggbb. */
export function rgb(name) {
  const bits = parseInt(colours.css[name].slice(1), 16);
  return [(bits >> 16) / 255, ((bits >> 8) & 255) / 255, (bits & 255) / 255];
}

read();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", read);

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
export const reducedMotion = () => reduced.matches;
