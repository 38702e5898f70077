// Draws the arena from above.

import { colours } from "./shared/theme.js";

const SHOT_MS = 120;

export class Field {
  #canvas;
  #context;
  #map = null;
  #scale = 1;
  /** By player, the shot that is still drawn: its ends and when it was. */
  #shots = new Map();
  #had = new Set();

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
  }

  begin(hello) {
    this.#map = hello;
    this.#shots.clear();
    this.#had.clear();
  }

  /** Where a point of the world is on the canvas, in CSS pixels. */
  place(x, y) {
    const [halfX, halfY] = this.#map.half_m;
    const { clientWidth, clientHeight } = this.#canvas;
    return [((x + halfX) / (2 * halfX)) * clientWidth, ((halfY - y) / (2 * halfY)) * clientHeight];
  }

  /**
   * Draws a frame. `players` is what the client shows, the own player first if `numbers.has_own`.
   * `places` is where the server has everybody, or null. `bots` has the ids of bots.
   */
  draw(players, numbers, places, bots, now_ms) {
    this.#resize();
    const context = this.#context;
    const [halfX, halfY] = this.#map.half_m;
    context.setTransform(this.#scale, 0, 0, -this.#scale, halfX * this.#scale, halfY * this.#scale);
    this.#ground();
    this.#ferry(numbers);
    if (places) this.#truth(players, places);
    for (const player of players) this.#noteShot(player, players, now_ms);
    this.#drawShots(now_ms);
    players.forEach((player, index) => {
      const isMe = index === 0 && numbers.has_own === 1;
      this.#player(player, isMe, bots.has(player.id));
    });
  }

  #resize() {
    const ratio = devicePixelRatio;
    const { clientWidth, clientHeight } = this.#canvas;
    const [width, height] = [clientWidth, clientHeight].map((size) => Math.round(size * ratio));
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      [this.#canvas.width, this.#canvas.height] = [width, height];
    }
    this.#scale = width / (2 * this.#map.half_m[0]);
  }

  #ground() {
    const { half_m: [halfX, halfY], river_half_m: river, walls, pads, pad_radius_m } = this.#map;
    const context = this.#context;
    context.fillStyle = colours.css.floor;
    context.fillRect(-halfX, -halfY, 2 * halfX, 2 * halfY);
    context.strokeStyle = colours.css.grid;
    context.lineWidth = 0.03;
    context.beginPath();
    for (let x = -halfX + 4; x < halfX; x += 4) line(context, x, -halfY, x, halfY);
    for (let y = -halfY + 4; y < halfY; y += 4) line(context, -halfX, y, halfX, y);
    context.stroke();
    context.fillStyle = colours.css["part-sets"];
    context.globalAlpha = 0.35;
    context.fillRect(-river, -halfY, 2 * river, 2 * halfY);
    context.globalAlpha = 1;
    context.fillStyle = colours.css.bone;
    for (const { at: [x, y], half: [width, height] } of walls) {
      context.fillRect(x - width, y - height, 2 * width, 2 * height);
    }
    context.strokeStyle = colours.css["part-others"];
    for (const [x, y] of pads) {
      for (const radius of [pad_radius_m, 0.6 * pad_radius_m]) {
        context.lineWidth = 0.14;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.stroke();
      }
    }
  }

  #ferry({ ferry_x, ferry_y, ferry_rad }) {
    const context = this.#context;
    const half = this.#map.deck_half_m + this.#map.radius_m;
    context.save();
    context.translate(ferry_x, ferry_y);
    context.rotate(ferry_rad);
    context.fillStyle = colours.css.cube;
    context.fillRect(-half, -half, 2 * half, 2 * half);
    context.strokeStyle = colours.css.bone;
    context.lineWidth = 0.1;
    context.strokeRect(-half, -half, 2 * half, 2 * half);
    context.beginPath();
    for (let y = -half + 1; y < half; y += 1) line(context, -half, y, half, y);
    context.lineWidth = 0.04;
    context.stroke();
    context.restore();
  }

  // Hollow discs where the server has everybody, and lines from where this page shows them.
  #truth(players, places) {
    const context = this.#context;
    context.strokeStyle = colours.css.interacting;
    context.lineWidth = 0.07;
    context.beginPath();
    for (const { id, x, y, health } of players) {
      const there = places.get(id);
      if (!there || there.health === 0 || health === 0) continue;
      context.moveTo(there.x + this.#map.radius_m, there.y);
      context.arc(there.x, there.y, this.#map.radius_m, 0, 2 * Math.PI);
      line(context, x, y, there.x, there.y);
    }
    context.stroke();
  }

  #player({ id, x, y, aim_x, aim_y, health }, isMe, isBot) {
    const context = this.#context;
    const { radius_m: radius, health: full } = this.#map;
    context.globalAlpha = health > 0 ? 1 : 0.25;
    context.fillStyle = colours.css[isMe ? "player" : isBot ? "bone" : "error-1"];
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = colours.css.mark;
    context.lineWidth = 0.1;
    context.beginPath();
    line(context, x, y, x + 0.85 * aim_x, y + 0.85 * aim_y);
    context.stroke();
    if (health > 0) {
      context.strokeStyle = isMe ? colours.css.player : colours.css.text;
      context.beginPath();
      const begin = Math.PI / 2;
      context.arc(x, y, radius + 0.2, begin, begin - (2 * Math.PI * health) / full, true);
      context.stroke();
    }
    context.globalAlpha = 1;
    this.#name(isMe ? "you" : `${isBot ? "bot" : "page"} ${id}`, x, y + radius + 0.45);
  }

  // Text is not mirrored, so it is drawn with y pointing down.
  #name(text, x, y) {
    const context = this.#context;
    context.save();
    context.translate(x, y);
    context.scale(1, -1);
    context.font = "0.75px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillStyle = colours.css.text;
    context.fillText(text, 0, 0);
    context.restore();
  }

  // A shot begins in the frame in which the player has just shot, and stays for a moment.
  #noteShot(player, players, now_ms) {
    const { id, x, y, aim_x, aim_y, has_shot, health } = player;
    if (has_shot !== 1 || health === 0) {
      this.#had.delete(id);
      return;
    }
    if (this.#had.has(id)) return;
    this.#had.add(id);
    const length = this.#reach(player, players);
    this.#shots.set(id, { from: [x, y], to: [x + length * aim_x, y + length * aim_y], now_ms });
  }

  #drawShots(now_ms) {
    const context = this.#context;
    context.strokeStyle = colours.css.interacting;
    context.lineWidth = 0.12;
    for (const [id, { from, to, now_ms: then_ms }] of this.#shots) {
      const age = (now_ms - then_ms) / SHOT_MS;
      if (age >= 1) {
        this.#shots.delete(id);
        continue;
      }
      context.globalAlpha = 1 - age;
      context.beginPath();
      line(context, ...from, ...to);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // How far a shot goes, to the first wall or player, or to the end of the arena.
  #reach({ id, x, y, aim_x, aim_y }, players) {
    const { half_m, radius_m, walls } = this.#map;
    let reach = 40;
    const [from, aim] = [[x, y], [aim_x, aim_y]];
    const box = (low, high) => {
      let [enters, leaves] = [-Infinity, Infinity];
      for (const axis of [0, 1]) {
        const ends = [low[axis], high[axis]].map((edge) => (edge - from[axis]) / (aim[axis] || 1e-9));
        enters = Math.max(enters, Math.min(...ends));
        leaves = Math.min(leaves, Math.max(...ends));
      }
      return [enters, leaves];
    };
    reach = Math.min(reach, box(half_m.map((half) => -half), half_m)[1]);
    for (const { at, half } of walls) {
      const [low, high] = [-1, 1].map((side) => at.map((middle, axis) => middle + side * half[axis]));
      const [enters, leaves] = box(low, high);
      if (enters > 0 && enters <= leaves) reach = Math.min(reach, enters);
    }
    for (const other of players) {
      if (other.id === id || other.health === 0) continue;
      const [dx, dy] = [other.x - x, other.y - y];
      const along = dx * aim_x + dy * aim_y;
      if (along > 0 && Math.abs(dx * aim_y - dy * aim_x) < radius_m) reach = Math.min(reach, along);
    }
    return reach;
  }
}

function line(context, fromX, fromY, toX, toY) {
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
}
