// The page's state in words: in the line at the top, and over the arena if the user has to act.
// Reasons that the program gives for a refusal appear at the bottom for a while.

import { put } from "./shared/format.js";

const MESSAGE_MS = 6000;
const WORDS = {
  loading: ["loading the game", ""],
  connecting: ["connecting", "Waiting for the program. Is “kinepack-lab arena” running? This page keeps trying."],
  full: ["too many pages", "The game is full: the program serves eight pages. Close another one, and this page joins."],
  live: ["you play", ""],
  lost: ["connection lost, trying again", "The connection is lost. The page joins again as soon as the program answers. If the program has stopped, start “kinepack-lab arena” again."],
  ended: ["the program has ended", "The game has ended. Start “kinepack-lab arena” again, and this page joins."],
  unsupported: ["the game does not run here", ""],
};

export class State {
  #root = document.documentElement;
  #line = document.getElementById("state");
  #banner = document.getElementById("banner");
  #message = document.getElementById("message");
  #message_timer = null;
  #state = "loading";
  #pages = 1;

  get live() {
    return this.#state === "live";
  }

  loaded() {
    this.#enter("connecting", false);
  }

  connected() {
    this.#enter("live");
  }

  ended() {
    this.#enter("ended");
  }

  /** The socket closed. */
  closed(reason) {
    if (this.live) this.#enter("lost");
    else if (this.#state === "connecting") this.#enter("connecting");
    if (reason && this.#state !== "ended") this.complain(`The program closed the connection: ${reason}.`);
  }

  /** The socket could not be opened. A program that is there refuses only because it is full. */
  unopened(isThere) {
    if (this.#state === "unsupported") return;
    if (isThere) this.#enter("full");
    else if (this.#state === "full") this.#enter("connecting");
  }

  /** The game cannot run in this browser. */
  unsupported(why) {
    this.#enter("unsupported");
    put(this.#banner, `The game does not run in this page: ${why}. Reload the page to try again.`);
    this.#banner.hidden = false;
  }

  /** Shows how many play. */
  pages(count) {
    if (count === this.#pages) return;
    this.#pages = count;
    if (this.live) this.#enter("live");
  }

  /** Shows a sentence for a while. */
  complain(words) {
    this.#message.textContent = words;
    clearTimeout(this.#message_timer);
    this.#message_timer = setTimeout(() => { this.#message.textContent = ""; }, MESSAGE_MS);
  }

  /** A page that has just begun to connect has nothing to explain yet. */
  #enter(state, explains = true) {
    this.#state = state;
    this.#root.dataset.state = state;
    const [line, banner] = WORDS[state];
    const others = this.#pages > 1 ? `, with ${this.#pages - 1} other ${this.#pages === 2 ? "page" : "pages"}` : "";
    put(this.#line, state === "live" ? line + others : line);
    put(this.#banner, banner);
    this.#banner.hidden = banner === "" || !explains;
  }
}
