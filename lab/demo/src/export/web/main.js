// The demo without a server: a recorded world is sent through a simulated link and received, all by the
// module in this page.

import initialize, { Simulation } from "./module/demo.js";
import { loader, named } from "./memory.js";
import { BODY_WORDS } from "./protocol.js";
import { CameraInput } from "./shared/camera_input.js";
import { put, tenths, whole } from "./shared/format.js";
import { Camera } from "./worlds/camera.js";
import { Columns, heatOf } from "./receiving/columns.js";
import { markHeat } from "./worlds/bodies.js";
import { Worlds } from "./worlds/worlds.js";

const NUMBERS_MS = 500;
const LONGEST_DELAY_MS = 1000;

const byId = (id) => document.getElementById(id);
const canvas = byId("worlds");
const form = byId("settings");
const load = loader(initialize, new URL("module/demo_bg.wasm", import.meta.url));

function banner(words) {
  byId("banner").hidden = words === "";
  byId("banner").firstElementChild.textContent = words;
}

const known = (number) => (Number.isNaN(number) ? "–" : whole(number));

async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} is missing beside this page (${answer.status})`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function run() {
  const [world, schema, profile, about] = await Promise.all(
    ["world.bin", "world.schema", "world.profile", "world.json"].map(fetched),
  );
  const of = JSON.parse(new TextDecoder().decode(about));
  const memory = await load();
  const simulation = new Simulation(world, schema, profile, of.level, of.tick_hz);
  const statNames = simulation.stat_names();
  const schema_of = JSON.parse(simulation.schema());
  const [sent, shown] = [0, 1].map(() => new Columns(schema_of, memory));
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
    for (const input of form.querySelectorAll("input[type=range]")) input.nextElementSibling.value = input.value;
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
    const both = { sent: sent.read(simulation.sent_places()), shown: shown.read(simulation.shown_places()) };
    const heat = heatOf(memory, simulation);
    for (const bodies of [both.sent, both.shown]) markHeat(bodies, heat);
    worlds?.show(both, null);
    cameraInput.update(seconds);
    camera.update(seconds, both.sent.length > 0 ? both.sent : null);
    if (worlds) worlds.heat = form.heat.checked;
    byId("heat-legend").hidden = !form.heat.checked;
    worlds?.draw(camera.view(worlds.aspect), null);
    const stats = named(statNames, simulation.stats());
    const { tick, shown_tick: shownTick, wrong_lanes: wrong } = stats;
    numbers = { tick, shownTick, wrong, bodies: both.shown.length / BODY_WORDS, kbps: numbers.kbps };
    if (now_ms - counted.at_ms < NUMBERS_MS) return;
    const bytes = stats.payload_bytes + stats.header_bytes;
    numbers.kbps = Math.max(0, ((bytes - counted.bytes) * 8) / (now_ms - counted.at_ms));
    counted = { bytes, at_ms: now_ms };
    put(byId("kbps"), tenths(numbers.kbps));
    put(byId("lost"), tenths(stats.lost_ratio * 100));
    put(byId("round-trip"), known(stats.round_trip_ms));
    put(byId("baseline"), known(stats.baseline_ticks));
    put(byId("delay"), whole(stats.playout_ms));
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
