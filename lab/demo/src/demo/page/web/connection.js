// The socket to the program. A socket that closes is opened again for as long as the page is open,
// soon at first and every few seconds later.

import { parseBinary, parseText } from "./protocol.js";

const WAITS_MS = [500, 1000, 2000, 3000];

/**
 * `handlers`: one function for each kind of message (`hello`, `status`, `look`, `error`, `end`,
 * `world`, `datagrams`), and `closed`. `closed` is called each time a socket closes, even if it never
 * opened.
 */
export class Connection {
  #handlers;
  #socket = null;
  #failures = 0;

  constructor(handlers) {
    this.#handlers = handlers;
    this.#open();
  }

  /** Sends one message: an object, or bytes. Returns whether that was possible. */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(message instanceof ArrayBuffer ? message : JSON.stringify(message));
    return true;
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#handle(data));
    socket.addEventListener("close", () => {
      setTimeout(() => this.#open(), WAITS_MS[Math.min(this.#failures, WAITS_MS.length - 1)]);
      this.#failures += 1;
      this.#handlers.closed();
    });
    this.#socket = socket;
  }

  #handle(data) {
    const message = data instanceof ArrayBuffer ? parseBinary(data) : parseText(data);
    if (!message) return;
    if (message.kind === "hello") this.#failures = 0;
    this.#handlers[message.kind](message.value);
  }
}
