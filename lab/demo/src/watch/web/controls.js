// The controls of playback: buttons, speed, markers, and keys.

import { clock } from "./playhead.js";
import { put } from "./shared/format.js";

/** Elements that handle the space bar or the other keys themselves. */
const TAKES_SPACE = "button, input, select";
const TAKES_KEYS = "select";
const JUMP_S = 5;

const byId = (id) => document.getElementById(id);

export class Controls {
  #playhead;
  #markers = [];
  #play = byId("play");
  #speed = byId("speed");

  /** `cameraInput` gets the keys that playback does not use. */
  constructor(playhead, camera, cameraInput) {
    this.#playhead = playhead;
    this.#play.addEventListener("click", () => playhead.toggle());
    byId("back").addEventListener("click", () => playhead.step(-1));
    byId("on").addEventListener("click", () => playhead.step(1));
    this.#speed.addEventListener("change", () => { playhead.speed = Number(this.#speed.value); });
    byId("markers").addEventListener("change", ({ target }) => {
      if (target.value !== "") playhead.seek(Number(target.value));
      target.value = "";
    });
    camera.follow = false;
    byId("follow").addEventListener("change", ({ target }) => { camera.follow = target.checked; });
    byId("reset-view").addEventListener("click", () => camera.home());
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches(TAKES_KEYS)) return;
      if (this.#take(event)) event.preventDefault();
      else cameraInput.keyDown(event);
    });
    window.addEventListener("keyup", (event) => cameraInput.keyUp(event));
    window.addEventListener("blur", () => cameraInput.releaseAll());
  }

  begin({ markers }) {
    if (markers.length === this.#markers.length) return;
    this.#markers = markers.toSorted(([first], [second]) => first - second);
    const options = this.#markers.map(([tick, name]) => {
      const option = document.createElement("option");
      option.value = tick;
      option.textContent = `${clock((tick - this.#playhead.first) / this.#playhead.rate_hz)} ${name}`;
      return option;
    });
    byId("markers").replaceChildren(byId("markers").firstElementChild, ...options);
  }

  show() {
    const { playing, seconds, duration_s, tick } = this.#playhead;
    put(this.#play, playing ? "Pause" : "Play");
    put(byId("time"), `${clock(seconds)} of ${clock(duration_s)}, tick ${Math.floor(tick)}`);
  }

  /** Handles a key, and returns whether it controls playback. */
  #take({ key, target }) {
    const playhead = this.#playhead;
    if (key === " " && !target.matches(TAKES_SPACE)) playhead.toggle();
    else if (key === "ArrowLeft") playhead.step(-1);
    else if (key === "ArrowRight") playhead.step(1);
    else if (key === "j" || key === "J") playhead.seek(playhead.tick - JUMP_S * playhead.rate_hz);
    else if (key === "l" || key === "L") playhead.seek(playhead.tick + JUMP_S * playhead.rate_hz);
    else if (key === "[" || key === "]") this.#change(key === "]" ? 1 : -1);
    else if (key === "m" || key === "M") this.#nextMarker();
    else if (key === "Home") playhead.seek(playhead.first);
    else if (key === "End") playhead.seek(playhead.last);
    else return false;
    return true;
  }

  #change(by) {
    const index = this.#speed.selectedIndex + by;
    this.#speed.selectedIndex = Math.min(this.#speed.options.length - 1, Math.max(0, index));
    this.#playhead.speed = Number(this.#speed.value);
  }

  /** The next marker, or the first marker if no other follows. */
  #nextMarker() {
    const next = this.#markers.find(([tick]) => tick > this.#playhead.tick) ?? this.#markers[0];
    if (next) this.#playhead.seek(next[0]);
  }
}
