// The controls of playback: buttons, the time slider, speed, loop, and keys.

import { put } from "../shared/format.js";

/** Elements that handle the space bar or the arrow keys themselves. */
const TAKES_SPACE = "button, input:not([type=range]), select";
const TAKES_ARROWS = "input:not([type=range], [type=checkbox]), input#speed, select";

const byId = (id) => document.getElementById(id);

export class Transport {
  #playback;
  #play = byId("play");
  #scrub = byId("scrub");
  #time = byId("time");

  /** `cameraInput` gets the keys that playback does not use. */
  constructor(playback, cameraInput) {
    this.#playback = playback;
    this.#play.addEventListener("click", () => playback.toggle());
    byId("back").addEventListener("click", () => playback.step(-1));
    byId("on").addEventListener("click", () => playback.step(1));
    this.#scrub.addEventListener("input", () => playback.seek(this.#scrub.valueAsNumber));
    byId("loop").addEventListener("change", ({ target }) => { playback.loop = target.checked; });
    byId("speed").addEventListener("input", ({ target }) => {
      playback.speed = target.valueAsNumber;
      put(byId("speed-now"), `${playback.speed.toFixed(1)}×`);
    });
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.#take(event)) event.preventDefault();
      else if (!event.target.matches(TAKES_ARROWS)) cameraInput.keyDown(event);
    });
    window.addEventListener("keyup", (event) => cameraInput.keyUp(event));
    window.addEventListener("blur", () => cameraInput.releaseAll());
  }

  begin(clip) {
    this.#scrub.max = clip.duration_s;
    this.#scrub.step = "any";
    for (const control of [this.#play, this.#scrub, byId("back"), byId("on")]) control.disabled = clip.duration_s === 0;
  }

  show() {
    const { time_s, duration_s, playing, sample } = this.#playback;
    put(this.#play, playing ? "Pause" : "Play");
    this.#scrub.value = time_s;
    this.#scrub.setAttribute("aria-valuetext", `${time_s.toFixed(2)} of ${duration_s.toFixed(2)} seconds`);
    put(this.#time, `${time_s.toFixed(2)} of ${duration_s.toFixed(2)} s, sample ${sample}`);
  }

  /** Handles a key of playback, and returns whether it was one. */
  #take({ key, target }) {
    if (key === " " && !target.matches(TAKES_SPACE)) this.#playback.toggle();
    else if (key === "ArrowLeft" && !target.matches(TAKES_ARROWS)) this.#playback.step(-1);
    else if (key === "ArrowRight" && !target.matches(TAKES_ARROWS)) this.#playback.step(1);
    else return false;
    return true;
  }
}
