// The live page of `kinepack-lab demo`. This file creates the parts and runs one loop, once per frame of
// the screen. The program's messages update the parts. The simulated world is the left view. The
// datagrams go to this page's own receiver, which makes the right view. The loop draws what changed.

import { Camera } from "./worlds/camera.js";
import { CameraInput } from "./shared/camera_input.js";
import { Charts } from "./charts/charts.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls/controls.js";
import { whole } from "./shared/format.js";
import { Errors } from "./receiving/errors.js";
import { History, lastSeconds } from "./charts/history.js";
import { Look } from "./panels/look.js";
import { markHeat } from "./worlds/bodies.js";
import { measured, showCaptions, showInput, showNow, WINDOW_S } from "./panels/now.js";
import { PageReceiver } from "./receiving/receiver.js";
import { Past } from "./worlds/past.js";
import { pick } from "./worlds/pick.js";
import { Playing } from "./controls/playing.js";
import { rayThrough } from "./shared/orbit.js";
import { Report } from "./panels/report.js";
import { Settings } from "./controls/settings.js";
import { State } from "./panels/state.js";
import { touchPad } from "./controls/touch_pad.js";
import { Uncompressed } from "./worlds/uncompressed.js";
import { Worlds } from "./worlds/worlds.js";

const POINT_WAIT_MS = 50;
const NUMBERS_WAIT_MS = 100;
const REPORT_WAIT_MS = 250;
const NOTHING = { tick: NaN, bodies: new Float32Array(), delay_ms: NaN };

const byId = (id) => document.getElementById(id);
const canvas = byId("worlds");
const send = (message) => connection.send(message);

const history = new History();
const charts = new Charts(history);
const report = new Report(byId("report"));
const state = new State(() => send({ take_over: true }));
const camera = new Camera();
const playing = new Playing((keys) => hasControl && send({ keys }));
const look = new Look(send);
const cameraInput = new CameraInput(canvas, camera, (place) => look.keep(bodyAt(place)));
const controls = new Controls({ send, camera, cameraInput, playing, look });
const settings = new Settings(byId("settings"), send, (words) => controls.complain(words),
  () => lastSeconds(history.samples, "total_kbps", WINDOW_S));
touchPad(playing);

let worlds = null;
try {
  worlds = new Worlds(canvas, ["sent", "shown", "uncompressed"].map((name) => byId(`view-${name}`)));
} catch (error) {
  state.undrawable(error.message);
}
controls.heat((on) => { if (worlds) worlds.heat = on; });
const past = new Past();
const receiver = new PageReceiver();
const errors = new Errors();
const uncompressed = new Uncompressed(past);
controls.thirdView((mode) => {
  uncompressed.mode = mode;
  uncompressed.clear();
  byId("view-uncompressed").hidden = mode === "none";
  worlds?.measureAgain();
});

let hello = null;
let hasControl = false;
let paused = false;
let tick = 0;
let world = null;
let shown = NOTHING;
let input = null;
let send_hz = 60;
let now = { kbps: null, loss_ratio: null };
let drawn = null;
/** The newest acknowledged world. A hidden page acknowledges none, so the program sends it none. */
let taken = null;
let frames = 0;
let last_ms = 0;
let pointed_at_ms = 0;
let numbers_at_ms = 0;
let reported_at_ms = 0;

const connection = new Connection({
  hello(value) {
    if (value.bodies !== hello?.bodies) camera.frame(value.bodies);
    hello = value;
    tick = 0;
    // A world of an earlier connection must not be acknowledged on this one.
    [drawn, taken] = [world, world];
    history.clear();
    past.clear();
    shown = NOTHING;
    errors.clear();
    receiver.begin(hello).catch((error) => state.unreceivable(error.message));
    uncompressed.clear();
    charts.begin(hello);
    worlds?.begin(hello);
    settings.begin(hello);
    look.begin(hello);
    playing.forget();
    byId("about").textContent = `${whole(hello.bodies)} cubes at ${hello.tick_hz} Hz, sent over a bad network`;
    state.connected();
  },
  status(status) {
    hasControl = status.has_control;
    paused = status.paused;
    input = status.report.input;
    send_hz = status.settings.send_hz;
    tick = Math.max(tick, status.tick);
    const received = { ...errors.take(), ...receiver.measured(performance.now()) };
    history.add(status.samples.map((sample) => ({ ...sample, ...received })), status.packets, charts.timeline.tick_hz);
    if (performance.now() - reported_at_ms >= REPORT_WAIT_MS) {
      reported_at_ms = performance.now();
      report.show(status.report);
    }
    state.show(status);
    settings.show(status);
    controls.show(status);
  },
  look: (value) => look.show(value, receiver.look(value.id)),
  error(words) {
    settings.refused();
    controls.complain(words);
  },
  end(end) {
    report.show(end.report);
    state.ended();
  },
  world(value) {
    world = value;
    tick = Math.max(tick, value.tick);
    past.add(value.tick, value.sent);
    if (!document.hidden) take();
  },
  datagrams(value) {
    try {
      const answers = receiver.take(value, performance.now());
      if (answers) send(answers);
    } catch (error) {
      state.unreceivable(error.message);
    }
  },
  closed() {
    hasControl = false;
    state.closed();
    settings.close();
    controls.close();
  },
});

/** The body at a point of the canvas, in either view, or null. */
function bodyAt(place) {
  const at = worlds && world && hello ? worlds.placeAt(place) : null;
  if (!at) return null;
  const view = camera.view(worlds.aspect);
  const halfEdge = (index) => (index === 0 ? hello.player_edge_m : hello.cube_edge_m) / 2;
  const bodies = [world.sent, shown.bodies, uncompressed.bodies ?? []][at.index];
  return pick(bodies, view.eye, rayThrough(view, at.x, at.y), halfEdge, (2 * view.half_y) / at.height_px);
}

/** Projects a point with a view matrix. The result is −1 to 1 across and up. */
function project(matrix, [x, y, z]) {
  const [across, up, depth] = [0, 1, 3].map((row) => matrix[row] * x + matrix[4 + row] * y + matrix[8 + row] * z + matrix[12 + row]);
  return [across / depth, up / depth];
}

function take() {
  if (world !== null && world !== taken && send({ taken: world.number })) taken = world;
}

/** The simulated world and the one that this page shows. */
const bothWorlds = () => ({ ...world, shown: shown.bodies, shownTick: shown.tick });

function frame(now_ms) {
  requestAnimationFrame(frame);
  const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
  last_ms = now_ms;
  frames += 1;
  cameraInput.update(seconds);
  camera.update(seconds, world ? world.sent : null);
  playing.update(camera.yaw);
  if (now_ms - pointed_at_ms >= POINT_WAIT_MS) {
    pointed_at_ms = now_ms;
    look.point(cameraInput.hover && state.live ? bodyAt(cameraInput.hover) : null);
  }
  look.update(now_ms);
  take();
  const playing_now = receiver.play(now_ms);
  const isLater = playing_now !== null && playing_now.tick !== shown.tick;
  if (playing_now) shown = playing_now;
  if (isLater) {
    const around = past.around(shown.tick);
    if (around) errors.add(shown.bodies, around);
    past.forget(shown.tick);
  }
  if (world && (isLater || world !== drawn)) {
    const both = bothWorlds();
    for (const bodies of [both.sent, both.shown]) markHeat(bodies, receiver.heat);
    if (world !== drawn) {
      uncompressed.update(both, { bits_per_s: 1000 * (now.kbps ?? 0), loss_ratio: now.loss_ratio ?? 0, tick_hz: hello.tick_hz });
      drawn = world;
    }
    worlds?.show(both, uncompressed.bodies);
  }
  worlds?.draw(camera.view(worlds.aspect), look.marked);
  charts.timeline.update(tick, paused);
  charts.draw(now_ms);
  if (hello && now_ms - numbers_at_ms >= NUMBERS_WAIT_MS) {
    numbers_at_ms = now_ms;
    now = measured(history, charts.timeline);
    showNow(history, hello, now, send_hz);
    showInput(history, input);
    if (world) showCaptions(bothWorlds(), shown.delay_ms, hello, send_hz, uncompressed, now.kbps);
  }
}
requestAnimationFrame(frame);

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({
  world: () => world && bothWorlds(),
  receiver: () => receiver.measured(performance.now()),
  uncompressed: () => ({ bodies: uncompressed.bodies, rate_hz: uncompressed.rate_hz, ...now }),
  /** Where a body is in the first view, −1 to 1 across and up. */
  place: (body) => worlds && world && project(camera.view(worlds.aspect).matrix, world.sent.subarray(body * 8, body * 8 + 3)),
  samples: () => [...history.samples],
  packets: () => [...history.packets],
  frames: () => frames,
});
