// The page of `kinepack-lab serve --web`: joins the world, draws what its receiver plays, and sends keys.

import { Joined, invitation } from "./joined.js";
import { BODY_WORDS } from "./protocol.js";
import { CameraInput } from "./shared/camera_input.js";
import { put, tenths, whole } from "./shared/format.js";
import { Playing } from "./controls/playing.js";
import { Camera } from "./worlds/camera.js";
import { bodiesOf } from "./worlds/bodies.js";
import { Worlds } from "./worlds/worlds.js";

const AGAIN_MS = 1500;
const NUMBERS_MS = 500;

const byId = (id) => document.getElementById(id);
const canvas = byId("worlds");
// `?transport=websocket` uses only a WebSocket, and `?loss=5` drops 5 % of the datagrams.
const query = new URLSearchParams(location.search);
const transports = query.has("transport") ? [query.get("transport")] : ["webtransport", "websocket"];
const loss_ratio = Math.min(0.9, Math.max(0, Number(query.get("loss")) / 100 || 0));

const camera = new Camera();
const cameraInput = new CameraInput(canvas, camera, () => {});
const playing = new Playing((actions) => {
  // Until the first key, this page only watches.
  isPlaying ||= actions.length > 0;
  joined?.hold(new Set(actions));
  return joined !== null;
});

let worlds = null;
try {
  // This page does not show the other two views of the demo.
  worlds = new Worlds(canvas, [byId("view"), document.createElement("i"), document.createElement("i")]);
} catch (error) {
  banner(`The world cannot be drawn: ${error.message}. The numbers below still count what arrives.`);
}

let joined = null;
let bodies = new Float32Array();
let player = null;
/** The id of this page's cube, or null while the page only watches. */
let own = null;
let followed = null;
let firstGuest = 0;
let isPlaying = false;
let last_ms = 0;
let keys_ms = 0;
let frames = 0;
let counted = { bytes: 0, at_ms: 0 };

function banner(words) {
  byId("banner").hidden = words === "";
  byId("banner").firstElementChild.textContent = words;
}

function lose(reason) {
  joined?.close();
  joined = null;
  own = null;
  document.documentElement.dataset.state = "lost";
  put(byId("state"), "no connection");
  banner(`${reason}. Trying again.`);
  setTimeout(join, AGAIN_MS);
}

async function join() {
  try {
    const of = await invitation();
    const now = await Joined.join(of, transports, loss_ratio, (reason) => {
      if (joined === now) lose(reason);
    });
    joined = now;
    firstGuest = of.first_guest;
    camera.frame((2 * of.half_width_m) ** 2);
    worlds?.begin(of);
    put(byId("transport"), joined.transport === "webtransport" ? "WebTransport" : "WebSocket");
    put(byId("state"), "joined");
    put(byId("about"), `${of.program}, ${of.level}: this page decodes, buffers and interpolates`);
    document.documentElement.dataset.state = "live";
    if (worlds) banner("");
    playing.forget();
  } catch (error) {
    lose(error.message);
  }
}

/** Notes the cube that the server gives to this page. The first player has the number 0, and guests follow. */
function takeSeat({ playing, "player.number": number }) {
  own = !playing ? null : number === 0 ? 0 : firstGuest + number - 1;
}

/**
 * Puts the bodies into the form that the drawing takes: players first. The camera follows this page's cube, or the first
 * player's while the page only watches.
 */
function arrange(frame) {
  for (const { kind, values } of frame.events) if (kind === "seated") takeSeat(values);
  bodies = bodiesOf(frame.kinds, bodies);
  const [players] = frame.kinds;
  const index = Math.max(0, players.indexOf(own ?? 0));
  followed = players.ids[index] ?? null;
  player = followed === null ? null : bodies.subarray(index * BODY_WORDS);
}

function showNumbers(now_ms) {
  const stats = joined.stats();
  if (stats.mismatch) banner(stats.mismatch);
  const seconds = (now_ms - counted.at_ms) / 1000;
  put(byId("kbps"), tenths(((stats.bytes - counted.bytes) * 8e-3) / seconds));
  counted = { bytes: stats.bytes, at_ms: now_ms };
  put(byId("round-trip"), stats.roundTripMs === undefined ? "–" : whole(stats.roundTripMs));
  put(byId("lost"), tenths(stats.lostRatio * 100));
  put(byId("delay"), whole(stats.delayMs));
  put(byId("decode"), whole(stats.decode_us));
  put(byId("bodies"), whole(bodies.length / BODY_WORDS));
}

function frame(now_ms) {
  requestAnimationFrame(frame);
  const seconds = Math.min(0.1, (now_ms - last_ms) / 1000);
  last_ms = now_ms;
  frames += 1;
  cameraInput.update(seconds);
  playing.update(camera.yaw);
  const shown = joined?.play();
  if (shown) {
    arrange(shown);
    if (worlds) worlds.players = shown.kinds[0].count;
    worlds?.show({ sent: bodies }, null);
  }
  if (joined && isPlaying && now_ms - keys_ms > 1000 / 60 - 2) {
    keys_ms = now_ms;
    joined.sendKeys();
  }
  camera.update(seconds, player);
  worlds?.draw(camera.view(worlds.aspect), null);
  if (joined && now_ms - counted.at_ms > NUMBERS_MS) showNumbers(now_ms);
}

window.addEventListener("keydown", (event) => {
  const isCommand = event.ctrlKey || event.altKey || event.metaKey;
  if (!isCommand && playing.keyDown(event)) event.preventDefault();
});
window.addEventListener("keyup", (event) => playing.keyUp(event));
window.addEventListener("blur", () => playing.releaseAll());

join();
requestAnimationFrame(frame);

// For tests and scripts. Nothing here changes the page.
globalThis.kinepack = Object.freeze({
  transport: () => joined?.transport,
  stats: () => joined?.stats(),
  bodies: () => bodies.length / BODY_WORDS,
  lanes: () => joined?.lanes() ?? null,
  frames: () => frames,
  followed: () => followed,
  cameraTarget: () => [...camera.target],
});
