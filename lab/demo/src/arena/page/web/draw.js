// Draws the arena from above. Lengths are in metres, and y points up. A canvas that is too narrow for
// the whole arena shows the part around the own player.

import { colours } from "./shared/theme.js";
import { STICK_PX } from "./player.js";

/** The smallest scale at which players can still be told apart. */
const MIN_PX_PER_M = 13;
/** What is visible beyond the arena's edge. */
const MARGIN_M = 1;
const FULL_TURN = 2 * Math.PI;

export class Arena {
  #canvas;
  #pen;
  #map = null;
  #scale = 1;
  /** The point of the world in the middle of the canvas. */
  #middle = [0, 0];
  #size = [1, 1];

  constructor(canvas) {
    this.#canvas = canvas;
    this.#pen = canvas.getContext("2d");
  }

  /** Takes the map from the message `hello`. */
  begin(hello) {
    this.#map = hello;
    this.#middle = [0, 0];
  }

  /** A point of the world in the canvas, in pixels of CSS. */
  place({ x, y }) {
    return { x: this.#size[0] / 2 + (x - this.#middle[0]) * this.#scale, y: this.#size[1] / 2 - (y - this.#middle[1]) * this.#scale };
  }

  /**
   * Draws a frame: the `players` with `name` and `colour`, of whom `own` may be one; the `ferry`, the
   * visible `shots`, the true `places` by id or null, and the touch `sticks`.
   */
  draw({ players, own, ferry, shots, places, sticks }) {
    this.#fit(own);
    this.#ground();
    if (ferry) this.#ferry(ferry);
    for (const shot of shots) this.#shot(shot);
    for (const player of players) this.#player(player, player === own);
    if (places) this.#truth(places, players);
    for (const player of players) this.#name(player, player === own);
    if (own?.health === 0) this.#words("You are out. Your next life begins in a moment.");
    for (const stick of sticks) this.#stick(stick);
  }

  /** Follows the size of the canvas, and the own player if not all of the arena fits. */
  #fit(own) {
    const [width, height] = [this.#canvas.clientWidth, this.#canvas.clientHeight];
    const dpr = window.devicePixelRatio || 1;
    const pixels = [width, height].map((size) => Math.max(1, Math.round(size * dpr)));
    if (this.#canvas.width !== pixels[0] || this.#canvas.height !== pixels[1]) [this.#canvas.width, this.#canvas.height] = pixels;
    this.#pen.setTransform(dpr, 0, 0, dpr, 0, 0);
    this.#size = [width, height];
    const reach = this.#map.half_m.map((half) => half + MARGIN_M);
    this.#scale = Math.max(MIN_PX_PER_M, Math.min(width / (2 * reach[0]), height / (2 * reach[1])));
    this.#middle = [0, 1].map((axis) => {
      const spare = Math.max(0, reach[axis] - this.#size[axis] / (2 * this.#scale));
      const at = own ? [own.x, own.y][axis] : this.#middle[axis];
      return Math.min(spare, Math.max(-spare, at));
    });
  }

  #ground() {
    const { half_m: [half_x, half_y], river_half_m, walls, pads, pad_radius_m } = this.#map;
    const pen = this.#pen;
    pen.fillStyle = colours.css.sky;
    pen.fillRect(0, 0, ...this.#size);
    this.#rectangle([0, 0], [half_x, half_y], colours.css.floor);
    pen.globalAlpha = 0.28;
    this.#rectangle([0, 0], [river_half_m, half_y], colours.css["part-sets"]);
    pen.globalAlpha = 1;
    for (const { at, half } of walls) this.#rectangle(at, half, colours.css.grid, colours.css.muted);
    pen.lineWidth = 2;
    pen.strokeStyle = colours.css["part-others"];
    for (const [x, y] of pads) {
      for (const radius of [pad_radius_m, pad_radius_m / 2]) this.#circle(this.place({ x, y }), radius * this.#scale, null, true);
    }
    const corner = this.place({ x: -half_x, y: half_y });
    pen.lineWidth = 1.5;
    pen.strokeStyle = colours.css.muted;
    pen.strokeRect(corner.x, corner.y, 2 * half_x * this.#scale, 2 * half_y * this.#scale);
  }

  /** The deck, with planks that show how it turns. */
  #ferry({ x, y, rad }) {
    const pen = this.#pen;
    const at = this.place({ x, y });
    const half = this.#map.deck_half_m * this.#scale;
    pen.save();
    pen.translate(at.x, at.y);
    pen.rotate(-rad);
    pen.fillStyle = colours.css.panel;
    pen.fillRect(-half, -half, 2 * half, 2 * half);
    pen.strokeStyle = colours.css.line;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let plank = 1; plank < 5; plank += 1) {
      const across = -half + (plank * 2 * half) / 5;
      pen.moveTo(-half, across);
      pen.lineTo(half, across);
    }
    pen.stroke();
    pen.strokeStyle = colours.css.text;
    pen.lineWidth = 2;
    pen.strokeRect(-half, -half, 2 * half, 2 * half);
    pen.restore();
  }

  #shot({ from, to, hit, age, colour }) {
    const pen = this.#pen;
    const [begin, end] = [from, to].map(([x, y]) => this.place({ x, y }));
    pen.globalAlpha = 1 - age;
    pen.strokeStyle = colours.css[colour];
    pen.lineWidth = 2;
    this.#line(begin, end);
    if (hit) this.#circle(end, (0.2 + 0.6 * age) * this.#scale, null, true);
    pen.globalAlpha = 1;
  }

  #player({ x, y, aim_x, aim_y, health, colour }, isOwn) {
    const pen = this.#pen;
    const at = this.place({ x, y });
    const radius = this.#map.radius_m * this.#scale;
    pen.globalAlpha = health > 0 ? 1 : 0.3;
    if (health > 0) {
      const tip = { x: at.x + aim_x * radius * 2.6, y: at.y - aim_y * radius * 2.6 };
      pen.strokeStyle = colours.css[colour];
      pen.lineWidth = Math.max(2, radius / 3);
      this.#line(at, tip);
    }
    pen.lineWidth = isOwn ? 2 : 1;
    pen.strokeStyle = isOwn ? colours.css.mark : colours.css.panel;
    this.#circle(at, radius, colours.css[colour], true);
    if (health > 0) this.#health(at, radius + 3.5, health);
    pen.globalAlpha = 1;
  }

  /** The health: one arc for each point, and a pale one for each that is missing. */
  #health(at, radius, health) {
    const pen = this.#pen;
    const step = FULL_TURN / this.#map.health;
    pen.lineWidth = 2;
    for (let point = 0; point < this.#map.health; point += 1) {
      const begin = -Math.PI / 2 + point * step;
      pen.strokeStyle = point < health ? colours.css["axis-y"] : colours.css.grid;
      pen.beginPath();
      pen.arc(at.x, at.y, radius, begin + 0.15, begin + step - 0.15);
      pen.stroke();
    }
  }

  #name({ x, y, name, health }, isOwn) {
    const at = this.place({ x, y });
    this.#pen.globalAlpha = health > 0 ? 1 : 0.5;
    this.#text(name, at.x, at.y - this.#map.radius_m * this.#scale - 9, `${isOwn ? "bold " : ""}11px`);
    this.#pen.globalAlpha = 1;
  }

  #words(words) {
    this.#text(words, this.#size[0] / 2, this.#size[1] - 1.8 * MARGIN_M * this.#scale, "14px");
  }

  /** A centred text with a halo. */
  #text(words, x, y, size) {
    const pen = this.#pen;
    pen.font = `${size} system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    pen.strokeStyle = colours.css.floor;
    pen.strokeText(words, x, y);
    pen.fillStyle = colours.css.text;
    pen.fillText(words, x, y);
  }

  /** Outlines where the server has the players, each with a line from where he is drawn. */
  #truth(places, players) {
    const pen = this.#pen;
    const drawn = new Map(players.map((player) => [player.id, player]));
    pen.strokeStyle = colours.css["error-2"];
    for (const [id, place] of places) {
      const at = this.place(place);
      pen.globalAlpha = place.health > 0 ? 1 : 0.4;
      pen.lineWidth = 1.5;
      this.#circle(at, this.#map.radius_m * this.#scale, null, true);
      pen.lineWidth = 1;
      if (drawn.has(id)) this.#line(this.place(drawn.get(id)), at);
    }
    pen.globalAlpha = 1;
  }

  #stick({ from, by }) {
    const pen = this.#pen;
    pen.globalAlpha = 0.35;
    pen.strokeStyle = colours.css.text;
    pen.lineWidth = 1.5;
    this.#circle(from, STICK_PX, null, true);
    this.#circle({ x: from.x + by.x, y: from.y + by.y }, 18, colours.css.text, false);
    pen.globalAlpha = 1;
  }

  #rectangle([x, y], [half_x, half_y], fill, edge = null) {
    const pen = this.#pen;
    const corner = this.place({ x: x - half_x, y: y + half_y });
    const size = [2 * half_x * this.#scale, 2 * half_y * this.#scale];
    pen.fillStyle = fill;
    pen.fillRect(corner.x, corner.y, ...size);
    if (edge === null) return;
    pen.strokeStyle = edge;
    pen.lineWidth = 1;
    pen.strokeRect(corner.x, corner.y, ...size);
  }

  #circle({ x, y }, radius, fill, hasEdge) {
    const pen = this.#pen;
    pen.beginPath();
    pen.arc(x, y, radius, 0, FULL_TURN);
    if (fill !== null) {
      pen.fillStyle = fill;
      pen.fill();
    }
    if (hasEdge) pen.stroke();
  }

  #line(from, to) {
    this.#pen.beginPath();
    this.#pen.moveTo(from.x, from.y);
    this.#pen.lineTo(to.x, to.y);
    this.#pen.stroke();
  }
}
