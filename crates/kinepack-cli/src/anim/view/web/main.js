// The page of `kinepack anim view`. Connects its parts, loads the chosen clip, and draws a frame whenever the screen does.

import { fetchClip, fetchList, fetchPoses } from "./api.js";
import { ErrorCurve } from "./charts/error_curve.js";
import { ClipList } from "./controls/clip_list.js";
import { Playback } from "./controls/playback.js";
import { Transport } from "./controls/transport.js";
import { jointName, Joints } from "./panels/joints.js";
import { showNumbers, showScale } from "./panels/numbers.js";
import { TrackPanel } from "./panels/track.js";
import { Camera } from "./scene/framing.js";
import { Motion } from "./scene/motion.js";
import { Scene } from "./scene/scene.js";
import { CameraInput } from "./shared/camera_input.js";
import { put } from "./shared/format.js";
import { reducedMotion } from "./shared/theme.js";

const byId = (id) => document.getElementById(id);
const root = document.documentElement;
const canvas = byId("view");
const complain = (words) => put(byId("message"), words);

const playback = new Playback();
const camera = new Camera();
const cameraInput = new CameraInput(canvas, camera, choosePoint);
const transport = new Transport(playback, cameraInput);
const errorCurve = new ErrorCurve(byId("error-curve"), playback);
const track = new TrackPanel(playback, complain);
const joints = new Joints(select);

let scene = null;
try {
  scene = new Scene(canvas);
} catch (error) {
  byId("banner").hidden = false;
  put(byId("banner").firstElementChild, `The skeletons can't be drawn: ${error.message}. The numbers and curves are right.`);
}

let list = null;
let clip = null;
let motion = null;
let asked = 0;
let frames = 0;
let last_ms = 0;
let selected = null;

function state(name, words) {
  root.dataset.state = name;
  put(byId("state"), words);
}

/** Loads a clip and shows it from its beginning. */
async function open(index) {
  asked += 1;
  const mine = asked;
  list.mark(index);
  state(clip ? "live" : "connecting", "loading");
  try {
    const [detail, poses] = await Promise.all([fetchClip(index), fetchPoses(index)]);
    // Another clip was chosen meanwhile.
    if (mine !== asked) return;
    begin(index, detail, poses);
    complain("");
    state("live", "ready");
  } catch (error) {
    if (mine !== asked) return;
    complain(error.message);
    state("lost", "not loaded");
  }
}

function begin(index, detail, poses) {
  clip = detail;
  root.toggleAttribute("data-compiled", detail.compiled);
  if (scene) scene.show = detail.compiled ? "clip" : byId("show").value;
  if (detail.compiled) byId("factor").value = "1";
  motion = new Motion(poses, detail);
  playback.begin(detail);
  transport.begin(detail);
  errorCurve.begin(motion, detail);
  // Without a raw clip all errors are zero, so any scale works.
  scene?.begin(detail.joints.map(({ parent }) => parent), detail.precision_cm || 1);
  showNumbers(detail);
  showScale(detail);
  track.begin(detail, index);
  const worst = joints.begin(detail);
  frame();
  select(worst);
}

/** Moves the camera so that the motion is in view. */
function frame() {
  if (!motion) return;
  byId("follow").checked = camera.frame(motion, byId("up").value);
  motion.go(playback.time_s, 1, byId("up").value);
  camera.arrive(motion);
}

function select(joint) {
  selected = joint;
  if (scene) scene.selected = joint;
  joints.mark(joint);
  track.select(joint);
}

function choosePoint(place) {
  if (!scene || !motion) return;
  const joint = scene.pick(place, camera.view(scene.aspect), motion);
  if (joint !== null) select(joint);
}

byId("show").addEventListener("change", ({ target }) => {
  root.dataset.show = target.value;
  if (scene) scene.show = target.value;
});
byId("up").addEventListener("change", frame);
byId("frame").addEventListener("click", frame);
byId("follow").addEventListener("change", ({ target }) => { camera.follow = target.checked; });

function tick(now_ms) {
  requestAnimationFrame(tick);
  const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
  last_ms = now_ms;
  frames += 1;
  if (!motion) return;
  playback.update(seconds);
  transport.show();
  cameraInput.update(seconds);
  const [factor, up] = [Number(byId("factor").value), byId("up").value];
  motion.go(playback.time_s, factor, up);
  camera.update(seconds, motion);
  scene?.draw(camera.view(scene.aspect), camera.floor, motion, [asked, playback.time_s, factor, up].join());
  errorCurve.draw(playback.time_s);
  track.draw(playback.time_s);
}
requestAnimationFrame(tick);

try {
  const lines = await fetchList();
  list = new ClipList(lines, open);
  playback.playing = !reducedMotion();
  if (lines.length > 0) await open(0);
  else state("live", "no clips");
} catch (error) {
  complain(error.message);
  state("lost", "not loaded");
}

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({
  frames: () => frames,
  clip: () => clip && { name: clip.name, joints: clip.joints.map((_, joint) => jointName(clip, joint)) },
  time_s: () => playback.time_s,
  selected: () => selected,
  track: () => track.shown && { ...track.shown },
});
