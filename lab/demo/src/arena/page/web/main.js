// The page of `kinepack-lab arena`. Its client is the module's: it receives, predicts, and makes the
// inputs. This page draws what the client says, reads keys, mouse and touch, and carries datagrams.

import initialize, { ArenaClient } from "./module/demo.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Field } from "./draw.js";
import { loader } from "./memory.js";
import { Player } from "./player.js";
import { put } from "./shared/format.js";
import { showNow, showShots } from "./numbers.js";

const NUMBERS_EVERY_MS = 200;
const ERROR_MS = 5000;

const canvas = document.getElementById("arena");
const field = new Field(canvas);
const player = new Player(canvas);
const controls = new Controls((message) => connection.send(message));
const truth = document.getElementById("truth");

let hello = null;
let client = null;
let [playerNames, numberNames] = [[], []];
let applied = "";
let places = null;
let status = null;
let [errorUntil_ms, numbersAt_ms] = [0, 0];

function say(state, text) {
  document.documentElement.dataset.state = state;
  put(document.getElementById("state"), text);
}

/** Gives the client the rules that concern it. */
function applyRules(rules) {
  const { prediction, fade, clock, frames, cuts, straight } = rules;
  const text = JSON.stringify(rules);
  if (applied === text) return;
  client.set_rules(prediction, fade, clock, frames, cuts, straight);
  applied = text;
}

/** Turns a list of numbers into objects with these names. */
function objects(names, list) {
  const count = list.length / names.length;
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(names.map((name, at) => [name, list[index * names.length + at]])));
}

function frame(now_ms) {
  requestAnimationFrame(frame);
  if (!client) return;
  const [known] = objects(playerNames, client.players());
  const [before] = objects(numberNames, client.numbers());
  const place = known && before.has_own === 1 ? field.place(known.x, known.y) : null;
  const { stick, aim, fires } = player.wish(place);
  client.frame(now_ms, ...stick, ...aim, fires);
  for (let datagram = client.poll_transmit(now_ms); datagram; datagram = client.poll_transmit(now_ms)) {
    connection.send(datagram);
  }
  const players = objects(playerNames, client.players());
  const [numbers] = objects(numberNames, client.numbers());
  const bots = new Set(status?.players.filter(({ is_bot }) => is_bot).map(({ id }) => id));
  field.draw(players, numbers, truth.checked ? places : null, bots, now_ms);
  if (numbers.has_own === 1) {
    Object.assign(canvas.dataset, {
      x: players[0].x.toFixed(2), y: players[0].y.toFixed(2), players: players.length,
    });
  }
  if (now_ms >= numbersAt_ms) {
    numbersAt_ms = now_ms + NUMBERS_EVERY_MS;
    const mine = status?.players.find(({ id }) => id === hello.me);
    showNow(numbers, mine?.shots, hello.tick_hz);
  }
}

try {
  await loader(initialize, new URL("./module/demo_bg.wasm", import.meta.url))();
} catch (error) {
  say("lost", error.message);
  throw error;
}

const connection = new Connection({
  hello(value) {
    client?.free();
    [hello, applied, status, places] = [value, "", null, null];
    client = new ArenaClient(value.me);
    [playerNames, numberNames] = [client.player_names().split(" "), client.number_names().split(" ")];
    applyRules(value.rules);
    field.begin(value);
    controls.begin(value);
    document.documentElement.dataset.me = value.me;
    say("live", "live");
  },
  status(value) {
    if (!client) return;
    status = value;
    applyRules(value.rules);
    controls.show(value);
    showShots(hello.me, value.players);
    if (performance.now() > errorUntil_ms) {
      const pages = value.pages === 1 ? "" : `, ${value.pages} pages play`;
      say("live", `live${pages}`);
    }
  },
  datagram(bytes) {
    client?.handle(performance.now(), bytes);
  },
  places(value) {
    places = value;
  },
  error(reason) {
    errorUntil_ms = performance.now() + ERROR_MS;
    say("live", reason);
  },
  end() {
    controls.enable(false);
    say("ended", "the program has ended");
  },
  closed() {
    controls.enable(false);
    say("lost", "not connected: the program has ended, or eight pages play already; trying again");
  },
});

requestAnimationFrame(frame);
