// The page of a broadcast. It watches through a relay, and decodes, buffers and draws by itself. A
// file next to it, broadcast.json, has the address of the broadcast.

import { fieldsOf } from "./fields.js";
import { Watching, load } from "./kinepack/crowd.js";
import { Moment } from "./moment.js";
import { BODY_WORDS } from "./protocol.js";
import { Regions, isRegion } from "./regions.js";
import { ask, bytesOf, checked, has, isObject } from "./shared/ask.js";
import { CameraInput } from "./shared/camera_input.js";
import { put, tenths, whole } from "./shared/format.js";
import { HALF_Y } from "./shared/orbit.js";
import { bodiesOf } from "./worlds/bodies.js";
import { Camera } from "./worlds/camera.js";
import { Worlds } from "./worlds/worlds.js";

const NUMBERS_MS = 500;
/** The time between two updates of the regions in view. */
const REGIONS_MS = 250;
/** The floor around the target that counts as in view, as a multiple of the visible part. */
const VIEW_RATIO = 1.3;
/** The entry in the list of tiers that selects all regions in view. */
const IN_VIEW = "regions in view";
const HISTORY_S = 60;
const JUMP_S = 2;
/** The edge of a body whose size is not known, as a share of half the floor's width. */
const EDGE_RATIO = 1 / 40;
const LEAST_HALF_WIDTH_M = 1;

const byId = (id) => document.getElementById(id);
const canvas = byId("worlds");
const camera = new Camera();
const cameraInput = new CameraInput(canvas, camera, () => {});
camera.follow = false;
const moment = new Moment();

let worlds = null;
try {
  // This page does not show the other two views of the demo.
  worlds = new Worlds(canvas, [byId("view"), document.createElement("i"), document.createElement("i")]);
} catch (error) {
  banner(`The world cannot be drawn: ${error.message}. The numbers below still count what arrives.`);
}

let of = null;
let watching = null;
/** The viewer whose world is drawn, and how to find its bodies. */
let viewer = null;
let columns = null;
let regions = new Regions([]);
/** When the regions in view were chosen; null if a tier is watched instead. */
let regions_ms = null;
let regionsWatched = "";
let isFramed = false;
let bodies = new Float32Array();
/** The bodies, if the first of them is of the first kind: then the camera can follow that body. */
let first = null;
let tick = 0;
let [last_ms, frames] = [0, 0];
let counted = { bytes: 0, at_ms: 0 };
let kbps = 0;

function banner(words) {
  byId("banner").hidden = words === "";
  byId("banner").firstElementChild.textContent = words;
}

const isNullOr = (type, value) => value === null || typeof value === type;
const isBroadcast = (value) => isObject(value) && has(value, "string", "program", "address")
  && isNullOr("string", value.certificate_hash) && Array.isArray(value.tiers) && value.tiers.every((tier) => typeof tier === "string")
  && Array.isArray(value.cube_schemas) && has(value, "number", "cube_edge_m", "player_edge_m");

async function begin() {
  const answer = await (await ask("broadcast.json")).json();
  of = checked(answer, isBroadcast(answer));
  await load();
  watching = new Watching(of.address, {
    certificateHash: of.certificate_hash === null ? undefined : bytesOf(of.certificate_hash),
    tiers: of.tiers, historyS: HISTORY_S, onLink: tell,
  });
  const { host, pathname } = new URL(of.address);
  put(byId("about"), `${of.program}: ${pathname.split("/").at(-1)} at ${host}`);
}

function tell({ connected, reason }) {
  const isLive = connected && reason === undefined;
  document.documentElement.dataset.state = isLive ? "live" : "lost";
  put(byId("state"), isLive ? "connected" : connected ? "waiting" : "no connection");
  banner(reason === undefined ? "" : `${reason}. Trying again.`);
}

/** Takes a new catalogue: the first one, or one that replaces it. */
function meet(next) {
  viewer = next;
  columns = fieldsOf(viewer.schema);
  regions = new Regions(viewer.tiers);
  const names = viewer.tiers.filter((name) => !isRegion(name));
  if (regions.count > 0) names.push(IN_VIEW);
  byId("tier").replaceChildren(...names.map((name) => new Option(name)));
  byId("tier").value = regions_ms === null ? viewer.shownTiers[0] : IN_VIEW;
  regionsWatched = "";
  moment.goLive();
  isFramed = false;
}

/** Chooses the floor and the sizes of bodies, from the first world that is shown. */
function frameWorld() {
  let half_width_m = LEAST_HALF_WIDTH_M;
  for (let at = 0; at < bodies.length; at += BODY_WORDS) {
    half_width_m = Math.max(half_width_m, Math.abs(bodies[at]), Math.abs(bodies[at + 1]));
  }
  const { cube_schemas, cube_edge_m, player_edge_m } = of;
  const isCubes = cube_schemas.includes(viewer.schema.hash);
  half_width_m = isCubes ? Math.ceil(half_width_m) + cube_edge_m : half_width_m * 1.25;
  const edge_m = half_width_m * EDGE_RATIO;
  worlds?.begin({
    ...of, half_width_m,
    cube_edge_m: isCubes ? cube_edge_m : edge_m, player_edge_m: isCubes ? player_edge_m : edge_m,
  });
  camera.frame((2 * half_width_m) ** 2);
  isFramed = true;
}

function play(seconds) {
  const history = viewer.history();
  moment.advance(seconds * viewer.tickHz, history);
  const shown = moment.tick === null ? viewer.play() : viewer.playAt(moment.tick);
  if (!shown) return;
  tick = shown.tick;
  bodies = bodiesOf(columns(shown), bodies);
  first = shown.kinds[0].count > 0 ? bodies : null;
  if (!isFramed) frameWorld();
  worlds?.show({ sent: bodies }, null);
  showMoment(history);
}

function showMoment(history) {
  put(byId("pause"), moment.paused ? "Play" : "Pause");
  if (!history) return;
  const slider = byId("moment");
  const ago_s = moment.tick === null ? 0 : (history.last - moment.tick) / viewer.tickHz;
  const span_s = (history.last - history.first) / viewer.tickHz;
  put(byId("time"), moment.tick === null ? "live" : `${tenths(ago_s)} s ago`);
  slider.min = -span_s;
  slider.max = 0;
  slider.value = -ago_s;
  slider.setAttribute("aria-valuetext", byId("time").textContent);
}

/** Shows the moment some seconds before the newest. */
function seek(seconds) {
  const history = viewer?.history();
  if (history) moment.seek(history.last + seconds * viewer.tickHz, history);
}

function jump(seconds) {
  const history = viewer?.history();
  if (history) moment.seek(tick + seconds * viewer.tickHz, history);
}

function nextTier() {
  const tiers = byId("tier");
  tiers.selectedIndex = (tiers.selectedIndex + 1) % tiers.length;
  changeTier();
}

function changeTier() {
  const tier = byId("tier").value;
  regions_ms = tier === IN_VIEW ? 0 : null;
  regionsWatched = "";
  if (regions_ms === null) watching.watch(tier);
}

/** Watches the regions that are in view. */
function followRegions(now_ms) {
  if (regions_ms === null || now_ms - regions_ms < REGIONS_MS || regions.count === 0) return;
  regions_ms = now_ms;
  const seen_m = HALF_Y * camera.distance_m * Math.max(1, worlds?.aspect ?? 1);
  const names = regions.within(camera.target, VIEW_RATIO * seen_m);
  if (names.join() !== regionsWatched) watching.watch(...names);
  regionsWatched = names.join();
}

function showNumbers(now_ms) {
  const bytes = watching.receivedBytes;
  kbps = ((bytes - counted.bytes) * 8) / (now_ms - counted.at_ms);
  counted = { bytes, at_ms: now_ms };
  put(byId("kbps"), tenths(kbps));
  if (!viewer) return;
  const stats = viewer.stats();
  put(byId("delay"), whole(stats.delayMs));
  put(byId("snapshots"), whole(stats.snapshots));
  put(byId("late"), whole(stats.late));
  put(byId("decode"), whole((watching.decodeMs * 1e3) / Math.max(1, stats.snapshots)));
  put(byId("bodies"), whole(bodies.length / BODY_WORDS));
}

function frame(now_ms) {
  requestAnimationFrame(frame);
  const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
  last_ms = now_ms;
  frames += 1;
  cameraInput.update(seconds);
  const next = watching?.viewer;
  if (next && next !== viewer) meet(next);
  if (viewer) {
    followRegions(now_ms);
    play(seconds);
  }
  camera.update(seconds, first);
  worlds?.draw(camera.view(worlds.aspect), null);
  if (watching && now_ms - counted.at_ms > NUMBERS_MS) showNumbers(now_ms);
}

/** Handles a key, and returns whether it controls playback. */
function take({ key, target }) {
  if (key === " " && !target.matches("button, select")) moment.toggle(tick);
  else if (key === "ArrowLeft" && !target.matches("input")) jump(-JUMP_S);
  else if (key === "ArrowRight" && !target.matches("input")) jump(JUMP_S);
  else if (key === "l" || key === "L") moment.goLive();
  else if ((key === "t" || key === "T") && viewer) nextTier();
  else return false;
  return true;
}

byId("pause").addEventListener("click", () => moment.toggle(tick));
byId("live").addEventListener("click", () => moment.goLive());
byId("moment").addEventListener("input", ({ target }) => seek(Number(target.value)));
byId("tier").addEventListener("change", changeTier);
byId("follow").addEventListener("change", ({ target }) => { camera.follow = target.checked; });
byId("reset-view").addEventListener("click", () => camera.home());
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (take(event)) event.preventDefault();
  else cameraInput.keyDown(event);
});
window.addEventListener("keyup", (event) => cameraInput.keyUp(event));
window.addEventListener("blur", () => cameraInput.releaseAll());

begin().catch((error) => {
  document.documentElement.dataset.state = "lost";
  put(byId("state"), "stopped");
  banner(error.message);
});
requestAnimationFrame(frame);

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({
  link: () => watching?.link,
  stats: () => viewer?.stats(),
  tiers: () => viewer?.shownTiers,
  kbps: () => kbps,
  tick: () => tick,
  bodies: () => bodies.length / BODY_WORDS,
  history: () => viewer?.history(),
  frames: () => frames,
});
