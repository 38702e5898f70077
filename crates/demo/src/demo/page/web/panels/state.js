// The state of the page in words: in the line at the top, and over the worlds where something is to be done.

import { put } from "../shared/format.js";

const WORDS = {
  connecting: [
    "connecting",
    "Waiting for the program. Is “kinepack demo” running? It takes eight pages at most; this one keeps trying.",
  ],
  lost: [
    "connection lost, trying again",
    "The connection is lost. This is the last picture; the page goes on once the program answers. If it has stopped, start “kinepack demo” again.",
  ],
  ended: [
    "the program has ended",
    "The program has ended; start “kinepack demo” again and this page goes on. The report below is the final one.",
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

  /** WebGL2 is missing: the worlds can't be drawn, all the rest can. */
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

  /** The socket closed. What never was there isn't lost, and what has ended stays so. */
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
    const watching = this.live && this.#status?.has_hands === false;
    this.#root.dataset.role = watching ? "watching" : "playing";
    this.#root.dataset.state = this.live && !this.#drawable ? "unsupported" : this.#connection;
    const [line, banner] = this.live ? [this.#liveWords(watching), this.#liveBanner(watching)] : WORDS[this.#connection];
    put(this.#line, line);
    put(this.#words, banner);
    // A page that only just opens has nothing to say yet.
    this.#banner.hidden = banner === "" || (this.#connection === "connecting" && !this.#failed);
    this.#takeOver.hidden = !watching;
  }

  #liveWords(watching) {
    if (!this.#status) return "live";
    const { paused, plays, speed_ratio } = this.#status;
    const who = paused ? "paused" : plays === "capture" ? "a capture plays" : watching ? "another page plays"
      : plays === "person" ? "you play" : "a script plays until you do";
    const slow = !paused && speed_ratio < 0.9 ? `, at ${speed_ratio.toFixed(1)} of real time` : "";
    return who + slow;
  }

  #liveBanner(watching) {
    const missing = this.#drawable ? "" : `The worlds can't be drawn: ${this.#words.dataset.why}. The numbers below are right all the same.`;
    return [missing, watching ? "Another page plays; this one watches." : ""].filter(Boolean).join(" ");
  }
}
