// The page of `kinepack-lab arena`. The module's client does everything of the game: it receives,
// predicts, and makes the datagrams. This file gives it the time, the person's wishes and the
// datagrams that arrive. Once per frame of the screen, it draws what the client shows.

import initialize, { ArenaClient } from "./module/demo.js";
import { loader, named } from "./memory.js";
import { Arena } from "./draw.js";
import { Connection } from "./connection.js";
import { Controls, same } from "./controls.js";
import { Numbers } from "./numbers.js";
import { Player } from "./player.js";
import { Shots } from "./shots.js";
import { State } from "./state.js";

const byId = (id) => document.getElementById(id);
const canvas = byId("arena");
const state = new State();
const arena = new Arena(canvas);
const person = new Player(canvas);
const controls = new Controls((message) => connection?.send(message) ?? false);
const numbers = new Numbers();
const shots = new Shots();

let connection = null;
let hello = null;
let client = null;
let playerNames = "";
let numberNames = "";
let rules = null;
/** The ids of the bots, as the program said last. */
let bots = new Set();
/** Where the server has everybody. */
let places = new Map();
/** The own player in the last frame, or null. */
let own = null;
/** The players in the last frame, and the number of frames. */
let drawn = [];
let frames = 0;

const handlers = {
  hello(value) {
    hello = value;
    client?.free();
    client = new ArenaClient(hello.me);
    [playerNames, numberNames] = [client.player_names(), client.number_names()];
    setRules(hello.rules);
    [places, own] = [new Map(), null];
    shots.forget();
    arena.begin(hello);
    numbers.begin(hello);
    controls.begin(hello);
    state.connected();
  },
  status(status) {
    if (!client) return;
    bots = new Set(status.players.filter(({ is_bot }) => is_bot).map(({ id }) => id));
    if (!same(status.rules, rules)) setRules(status.rules);
    controls.show(status);
    numbers.show(status, named(numberNames, client.numbers()));
    state.pages(status.pages);
  },
  error(words) {
    controls.refused();
    state.complain(words);
  },
  end: () => state.ended(),
  datagram: (bytes) => client?.handle(performance.now(), bytes),
  places(value) {
    places = value;
  },
  closed(reason) {
    state.closed(reason);
    controls.close();
  },
  unopened: (isThere) => state.unopened(isThere),
};

function setRules(value) {
  rules = value;
  client.set_rules(rules.prediction, rules.fade, rules.clock, rules.frames, rules.cuts, rules.straight);
}

/** Lets the client play until now, and sends what it wants to send. */
function play(now_ms) {
  const { stick, aim, fires } = person.wish(own && arena.place(own));
  client.frame(now_ms, ...stick, ...aim, fires);
  for (let datagram = client.poll_transmit(now_ms); datagram !== undefined; datagram = client.poll_transmit(now_ms)) {
    connection.send(datagram);
  }
}

/** The players to draw, the own one first if he is known. */
function players() {
  const values = client.players();
  const count = playerNames.split(" ").length;
  return Array.from({ length: values.length / count }, (_, index) => {
    const player = named(playerNames, values.subarray(index * count, (index + 1) * count));
    return { ...player, ...look(player.id) };
  });
}

function look(id) {
  if (id === hello.me) return { name: "you", colour: "interacting" };
  return bots.has(id) ? { name: `bot ${id}`, colour: "bone" } : { name: `player ${id}`, colour: "player" };
}

function draw(now_ms) {
  const { has_own, ferry_x, ferry_y, ferry_rad } = named(numberNames, client.numbers());
  const all = players();
  own = has_own ? all[0] : null;
  const visible = shots.update(now_ms, all, hello).map((shot) => ({ ...shot, ...look(shot.id) }));
  arena.draw({
    // The own player is drawn last, over all others.
    players: own ? [...all.slice(1), own] : all,
    own,
    ferry: { x: ferry_x, y: ferry_y, rad: ferry_rad },
    shots: visible,
    places: byId("truth").checked ? places : null,
    sticks: person.sticks,
  });
  drawn = all;
  frames += 1;
}

function frame() {
  // The same clock as for arrivals. The time that the browser passes is that of the frame's beginning.
  const now_ms = performance.now();
  if (client && state.live) {
    try {
      play(now_ms);
      draw(now_ms);
    } catch (error) {
      fail(error);
      return;
    }
  }
  requestAnimationFrame(frame);
}

/** The module failed, so it cannot be used any more. The player leaves. */
function fail(error) {
  console.error(error);
  client = null;
  connection?.close();
  controls.close();
  state.unsupported(error.message);
}

function showTruth() {
  for (const id of ["truth-legend", "truth-about"]) byId(id).hidden = !byId("truth").checked;
}

byId("truth").addEventListener("change", showTruth);
showTruth();

// A page without the module must not join: its player would stand about.
loader(initialize, new URL("./module/demo_bg.wasm", import.meta.url))().then(() => {
  state.loaded();
  connection = new Connection(handlers);
  requestAnimationFrame(frame);
}, fail);

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({ own: () => own, players: () => drawn, frames: () => frames });
