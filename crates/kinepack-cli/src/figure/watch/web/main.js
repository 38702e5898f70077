// The page of `kinepack figure watch`. Asks for the pose at each frame of the screen, and draws it.

import { fetchBody, fetchPose } from "./api.js";
import { Body } from "./body.js";
import { Panels } from "./panels.js";
import { Camera } from "./scene/framing.js";
import { Scene } from "./scene/scene.js";
import { CameraInput } from "./shared/camera_input.js";
import { put } from "./shared/format.js";

/** The time between two changes of the numbers, so that they can be read. */
const NUMBERS_MS = 250;
/** The time until the next attempt after a failure, and between two checks before a body arrives. */
const RETRY_MS = 500;

const byId = (id) => document.getElementById(id);
const canvas = byId("view");
const up = () => byId("up").value;

const camera = new Camera();
const panels = new Panels();
const input = new CameraInput(canvas, camera, choosePoint);

let scene = null;
try {
  scene = new Scene(canvas);
  scene.show = "clip";
} catch (error) {
  banner(`The body can't be drawn: ${error.message}. The numbers are right.`);
}

let body = null;
let session = 0;
let isFramed = false;
let poses = 0;
let frames = 0;
let last_ms = 0;
let numbers_ms = 0;
let selected = null;

function banner(words) {
  byId("banner").hidden = words === "";
  put(byId("banner").firstElementChild, words);
}

function state(name, words) {
  document.documentElement.dataset.state = name;
  put(byId("state"), words);
}

/** Asks for poses, one after the other, for as long as the page is open. */
async function follow() {
  for (;;) {
    try {
      const pose = await fetchPose();
      if (pose.session !== session || session === 0) await begin(pose.session);
      if (body) show(pose);
      put(byId("message"), "");
      await (body ? nextFrame() : wait(RETRY_MS));
    } catch (error) {
      put(byId("message"), error.message);
      state("lost", "no answer");
      await wait(RETRY_MS);
    }
  }
}

/** Begins the body of a session. */
async function begin(wanted) {
  const found = await fetchBody();
  session = found.session;
  if (session === 0) {
    body = null;
    state("connecting", "waiting");
    if (scene) banner(found.refused ? `The last body was refused: ${found.refused}` : "Waiting for `kinepack figure send`.");
    return;
  }
  if (session !== wanted) return;
  body = new Body(found.joints);
  isFramed = false;
  scene?.begin(found.joints.map(({ parent }) => parent), found.precision_cm || 1);
  panels.begin(found, select);
  select(null);
}

function show({ state: name, numbers, positions, curves }) {
  state(name === "live" ? "live" : "connecting", name);
  if (positions.length > 0) {
    body.go(positions, up());
    poses += 1;
    if (scene) banner("");
    if (!isFramed) frame();
  }
  panels.showCurves(curves);
  const now_ms = performance.now();
  if (now_ms - numbers_ms < NUMBERS_MS) return;
  numbers_ms = now_ms;
  panels.showNumbers(numbers);
}

/** Moves the camera so that the body is in view. */
function frame() {
  if (!body) return;
  isFramed = true;
  body.turn(up());
  camera.frame(body, up());
  camera.follow = byId("follow").checked;
  camera.arrive(body);
}

function select(joint) {
  selected = joint;
  if (scene) scene.selected = joint;
  panels.mark(joint);
}

function choosePoint(place) {
  if (!scene || !body) return;
  const joint = scene.pick(place, camera.view(scene.aspect), body);
  if (joint !== null) select(joint);
}

const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
/** Waits for a frame, or for a moment if the page is hidden and has none. */
const nextFrame = () => Promise.race([new Promise((done) => { requestAnimationFrame(done); }), wait(RETRY_MS)]);

byId("up").addEventListener("change", frame);
byId("frame").addEventListener("click", frame);
byId("follow").addEventListener("change", ({ target }) => { camera.follow = target.checked; });

function tick(now_ms) {
  requestAnimationFrame(tick);
  const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
  last_ms = now_ms;
  frames += 1;
  if (!body || !isFramed) return;
  input.update(seconds);
  camera.update(seconds, body);
  scene?.draw(camera.view(scene.aspect), camera.floor, body, [session, poses, up()].join());
}
requestAnimationFrame(tick);
follow();

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({
  frames: () => frames,
  poses: () => poses,
  session: () => session,
  selected: () => selected,
  joints: () => body && [...body.raw],
});
