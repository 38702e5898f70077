// The page's state in words: in the line at the top, and over the worlds if the user has to act.

import { put } from "../shared/format.js";

const WORDS = {
  connecting: [
    "connecting",
    "Waiting for the program. Is “kinepack-lab demo” running? It serves eight pages at most. This page keeps trying.",
  ],
  lost: [
    "connection lost, trying again",
    "The connection is lost, and this is the last picture. The page reconnects as soon as the program answers. If the program has stopped, start “kinepack-lab demo” again.",
  ],
  ended: [
    "the program has ended",
    "The program has ended. Start “kinepack-lab demo” again, and this page reconnects. The report below is final.",
  ],
};

export class State {
  #root = document.documentElement;
  #line = document.getElementById("state");
  #banner = document.getElementById("banner");
  #words = this.#banner.querySelector("p");
  #takeOver = document.getElementById("take-over");
  #connection = "connecting";
  #status = null;
  #drawable = true;
  #failed = false;

  constructor(takeOver) {
    this.#takeOver.addEventListener("click", takeOver);
    this.#show();
  }

  get live() {
    return this.#connection === "live";
  }

  /** Without WebAssembly, or after a failure of the receiver, nothing is received. */
  unreceivable(why) {
    this.#words.dataset.unreceived = why;
    this.#show();
  }

  /** Without WebGL2 the worlds cannot be drawn. Everything else works. */
  undrawable(why) {
    this.#drawable = false;
    this.#words.dataset.why = why;
    this.#show();
  }

  connected() {
    this.#connection = "live";
    this.#show();
  }

  ended() {
    this.#connection = "ended";
    this.#show();
  }

  /** The socket closed. The state becomes "lost" only if the socket was open and the program has not ended. */
  closed() {
    this.#failed = true;
    if (this.#connection === "live") this.#connection = "lost";
    this.#show();
  }

  show(status) {
    this.#status = status;
    this.#show();
  }

  #show() {
    const watching = this.live && this.#status?.has_control === false;
    this.#root.dataset.role = watching ? "watching" : "playing";
    this.#root.dataset.state = this.live && !this.#drawable ? "unsupported" : this.#connection;
    const [line, banner] = this.live ? [this.#liveWords(watching), this.#liveBanner(watching)] : WORDS[this.#connection];
    put(this.#line, line);
    put(this.#words, banner);
    // A page that has just opened has no speed to report.
    this.#banner.hidden = banner === "" || (this.#connection === "connecting" && !this.#failed);
    this.#takeOver.hidden = !watching;
  }

  #liveWords(watching) {
    if (!this.#status) return "live";
    const { paused, plays, speed_ratio } = this.#status;
    const who = paused ? "paused" : plays === "capture" ? "playing a capture" : watching ? "another page controls the player"
      : plays === "person" ? "you play" : "a script plays until you press a key";
    const slow = !paused && speed_ratio < 0.9 ? `, at ${speed_ratio.toFixed(1)} × real time` : "";
    return who + slow;
  }

  #liveBanner(watching) {
    const missing = this.#drawable ? "" : `The worlds can’t be drawn: ${this.#words.dataset.why}. The numbers below are right.`;
    const { unreceived } = this.#words.dataset;
    const without = unreceived ? `This page cannot receive the world: ${unreceived}. The simulated world is right.` : "";
    return [missing, without, watching ? "Another page controls the player. This one watches." : ""].filter(Boolean).join(" ");
  }
}
