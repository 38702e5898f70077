// The demo without a server: a recorded world is sent through a simulated link and received, all by the
// module in this page.

import initialize, { Simulation } from "./module/simulation.js";
import { loader, view } from "./memory.js";
import { BODY_WORDS } from "./protocol.js";
import { CameraInput } from "./shared/camera_input.js";
import { put, tenths, whole } from "./shared/format.js";
import { Camera } from "./worlds/camera.js";
import { fillBodies } from "./worlds/fill_bodies.js";
import { Worlds } from "./worlds/worlds.js";

const NUMBERS_MS = 500;
const LONGEST_DELAY_MS = 1000;

const byId = (id) => document.getElementById(id);
const canvas = byId("worlds");
const form = byId("settings");
const load = loader(initialize, new URL("module/simulation_bg.wasm", import.meta.url));

function banner(words) {
  byId("banner").hidden = words === "";
  byId("banner").firstElementChild.textContent = words;
}

async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} is missing beside this page (${answer.status})`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** The two worlds of the simulation as bodies in the form that the drawing takes: players first. */
class Bodies {
  #kinds;
  #memory;
  #words = new Float32Array();

  constructor(schema, memory) {
    this.#kinds = schema.kinds;
    this.#memory = memory;
  }

  read(address) {
    const places = this.#kinds.reduce((sum, kind) => sum + 2 + kind.fields.length, 0);
    const numbers = view(this.#memory, "u32", address, 2 * places);
    const counts = [0, 1].map((world) => {
      let [at, count] = [world * places, 0];
      for (const { fields } of this.#kinds) {
        count += numbers[at];
        at += 2 + fields.length;
      }
      return count;
    });
    const words = (counts[0] + counts[1]) * BODY_WORDS;
    if (this.#words.length !== words) this.#words = new Float32Array(words);
    let [at, to] = [0, 0];
    for (let world = 0; world < 2; world += 1) {
      for (const { fields } of this.#kinds) {
        const [count] = numbers.subarray(at, at + 1);
        const column = (name) => {
          const index = fields.findIndex((field) => field.name === name);
          const { type, size } = fields[index];
          return view(this.#memory, type, numbers[at + 2 + index], count * size);
        };
        const [position, orientation, interacting] = ["position", "orientation", "interacting"].map(column);
        to = fillBodies(this.#words, to, count, { position, orientation, interacting });
        at += 2 + fields.length;
      }
    }
    const split = counts[0] * BODY_WORDS;
    return { sent: this.#words.subarray(0, split), shown: this.#words.subarray(split) };
  }
}

async function run() {
  const [world, schema, profile, about] = await Promise.all(
    ["world.bin", "world.schema", "world.profile", "world.json"].map(fetched),
  );
  const of = JSON.parse(new TextDecoder().decode(about));
  const memory = await load();
  const simulation = new Simulation(world, schema, profile, of.level, of.tick_hz);
  const bodies = new Bodies(JSON.parse(simulation.schema()), memory);
  const camera = new Camera();
  const cameraInput = new CameraInput(canvas, camera, () => {});
  camera.frame((2 * of.half_width_m) ** 2);
  let worlds = null;
  try {
    worlds = new Worlds(canvas, [byId("sent"), byId("shown"), document.createElement("i")]);
    worlds.begin(of);
  } catch (error) {
    banner(`The worlds cannot be drawn: ${error.message}. The numbers below still count.`);
  }

  form.level.append(...of.levels.map((name) => new Option(name, name, false, name === of.level)));
  const settings = () => {
    for (const input of form.querySelectorAll("input")) input.nextElementSibling.value = input.value;
    const number = (name) => Number(form[name].value);
    simulation.set_link(number("round_trip_ms"), number("jitter_ms"), number("loss_percent") / 100);
    simulation.set_delays(number("playout_ms"), LONGEST_DELAY_MS);
  };
  form.addEventListener("input", settings);
  form.level.addEventListener("change", () => {
    simulation.set_level(form.level.value);
    settings();
    counted = { bytes: 0, at_ms: performance.now() };
  });
  settings();
  put(byId("about"), `${of.program}: a recorded world through a simulated network, all in this page`);
  put(byId("state"), "running");
  document.documentElement.dataset.state = "live";

  const begin_ms = performance.now();
  let [last_ms, frames] = [begin_ms, 0];
  let counted = { bytes: 0, at_ms: begin_ms };
  let numbers = {};
  const frame = (now_ms) => {
    requestAnimationFrame(frame);
    const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
    last_ms = now_ms;
    frames += 1;
    simulation.advance(now_ms - begin_ms);
    const both = bodies.read(simulation.places());
    worlds?.show(both, null);
    cameraInput.update(seconds);
    camera.update(seconds, both.sent.length > 0 ? both.sent : null);
    worlds?.draw(camera.view(worlds.aspect), null);
    const [tick, shownTick, payload, headers, baseline, round_trip_ms, lost_ratio, delay_ms, wrong] = simulation.stats();
    numbers = { tick, shownTick, wrong, bodies: both.shown.length / BODY_WORDS, kbps: numbers.kbps };
    if (now_ms - counted.at_ms < NUMBERS_MS) return;
    const bytes = payload + headers;
    numbers.kbps = Math.max(0, ((bytes - counted.bytes) * 8) / (now_ms - counted.at_ms));
    counted = { bytes, at_ms: now_ms };
    put(byId("kbps"), tenths(numbers.kbps));
    put(byId("lost"), tenths(lost_ratio * 100));
    put(byId("round-trip"), Number.isNaN(round_trip_ms) ? "–" : whole(round_trip_ms));
    put(byId("baseline"), Number.isNaN(baseline) ? "–" : whole(baseline));
    put(byId("delay"), whole(delay_ms));
    put(byId("wrong"), whole(wrong));
    put(byId("bodies"), whole(both.shown.length / BODY_WORDS));
  };
  requestAnimationFrame(frame);

  // For tests and scripts. Nothing here changes the page.
  globalThis.kinepack = Object.freeze({ numbers: () => numbers, frames: () => frames });
}

run().catch((error) => {
  document.documentElement.dataset.state = "lost";
  put(byId("state"), "stopped");
  banner(error.message);
});
