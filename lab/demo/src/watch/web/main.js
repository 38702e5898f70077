// The page of `kinepack-lab watch`. It chooses a moment, asks the program for the world at that moment,
// and draws the answer. At most one request is outstanding.

import { fetchReplay, fetchWorld } from "./api.js";
import { Controls } from "./controls.js";
import { FrameSizes } from "./frame_sizes.js";
import { Playhead } from "./playhead.js";
import { CameraInput } from "./shared/camera_input.js";
import { put, tenths, whole } from "./shared/format.js";
import { TimeLine } from "./time_line.js";
import { Camera } from "./worlds/camera.js";
import { Worlds } from "./worlds/worlds.js";

/** The time between two checks of a replay that is still being written. */
const REFRESH_MS = 2000;

const byId = (id) => document.getElementById(id);
const canvas = byId("worlds");

const playhead = new Playhead();
const camera = new Camera();
const cameraInput = new CameraInput(canvas, camera, () => {});
const controls = new Controls(playhead, camera, cameraInput);
const timeLine = new TimeLine(byId("time-line"), playhead);
const frameSizes = new FrameSizes(byId("frame-sizes"), playhead);

let worlds = null;
try {
  // This page does not show the other two views of the demo.
  worlds = new Worlds(canvas, [byId("view"), document.createElement("i"), document.createElement("i")]);
} catch (error) {
  banner(`The world cannot be drawn: ${error.message}.`);
}

let replay = null;
let world = null;
let asked = null;
let isWaiting = false;
let frames = 0;
let last_ms = 0;

function banner(words) {
  byId("banner").hidden = words === "";
  byId("banner").firstElementChild.textContent = words;
}

function fail(error) {
  document.documentElement.dataset.state = "lost";
  put(byId("state"), "no connection");
  put(byId("message"), error.message);
}

function describe(value) {
  const isNew = replay === null;
  replay = value;
  playhead.begin(replay);
  if (isNew) {
    camera.frame((2 * replay.half_width_m) ** 2);
    worlds?.begin(replay);
    playhead.playing = replay.ticks !== null;
  }
  timeLine.begin(replay);
  frameSizes.begin(replay);
  controls.begin(replay);
  document.documentElement.dataset.state = "live";
  put(byId("state"), replay.is_complete ? "complete" : "still being written");
  put(byId("about"), `${replay.file}: ${replay.name}`);
  document.title = `${replay.file} · Kinepack`;
  const { bytes } = replay;
  const seconds = playhead.duration_s + 1 / playhead.rate_hz;
  put(byId("all-bytes"), tenths(bytes / 1000));
  put(byId("all-kbps"), tenths((bytes * 8e-3) / seconds));
  put(byId("bodies"), whole(replay.bodies));
  const rows = [
    ["level", replay.level], ["ticks a second", String(replay.rate_hz)], ["groups", whole(replay.groups.length)], ...replay.info,
  ];
  byId("info").replaceChildren(...rows.map(([name, text]) => {
    const row = document.createElement("tr");
    const [head, cell] = [document.createElement("th"), document.createElement("td")];
    [head.textContent, cell.textContent] = [name, text];
    row.append(head, cell);
    return row;
  }));
  byId("damage").replaceChildren(...replay.damage.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  if (!replay.ticks) banner("The replay has no frames yet.");
  else if (worlds) banner("");
}

async function refresh() {
  try {
    describe(await fetchReplay());
    if (!replay.is_complete) setTimeout(refresh, REFRESH_MS);
  } catch (error) {
    fail(error);
  }
}

/** Asks for the world at the shown moment, unless an answer is outstanding. */
async function ask() {
  if (isWaiting || !replay?.ticks || playhead.tick === asked) return;
  isWaiting = true;
  asked = playhead.tick;
  try {
    world = await fetchWorld(asked);
    worlds?.show(world, null);
  } catch (error) {
    fail(error);
    playhead.playing = false;
  }
  isWaiting = false;
}

function frame(now_ms) {
  requestAnimationFrame(frame);
  const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
  last_ms = now_ms;
  frames += 1;
  playhead.update(seconds);
  cameraInput.update(seconds);
  camera.update(seconds, world ? world.sent : null);
  ask();
  worlds?.draw(camera.view(worlds.aspect), null);
  controls.show();
  timeLine.draw();
  frameSizes.draw();
  const { bytes, kbps } = frameSizes;
  put(byId("now-bytes"), bytes === null ? "–" : whole(bytes));
  put(byId("now-kbps"), kbps === null ? "–" : tenths(kbps));
}

refresh();
requestAnimationFrame(frame);

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({
  replay: () => replay,
  world: () => world && { ...world },
  tick: () => playhead.tick,
  frames: () => frames,
});
