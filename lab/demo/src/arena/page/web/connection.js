// The socket to the program. It carries the datagrams of this page's player, and JSON. A socket that
// closes is opened again for as long as the page is open, as a new player.

const WAITS_MS = [500, 1000, 2000, 3000];
const DATAGRAM = 0;

export class Connection {
  #handlers;
  #socket = null;
  #failures = 0;
  #hasEnded = false;

  /** `handlers`: `hello`, `status`, `error`, `end`, `datagram`, `places`, and `closed`. */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#open();
  }

  /** Sends an object as JSON, or the bytes of a datagram. */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#handle(data));
    socket.addEventListener("close", () => {
      const wait_ms = WAITS_MS[Math.min(this.#failures, WAITS_MS.length - 1)];
      setTimeout(() => this.#open(), wait_ms);
      this.#failures += 1;
      if (!this.#hasEnded) this.#handlers.closed();
    });
    this.#socket = socket;
  }

  #handle(data) {
    if (data instanceof ArrayBuffer) {
      const bytes = new Uint8Array(data);
      if (bytes[0] === DATAGRAM) this.#handlers.datagram(bytes.subarray(1));
      else this.#handlers.places(placesOf(data));
      return;
    }
    const [[kind, value]] = Object.entries(JSON.parse(data));
    if (kind === "hello") [this.#failures, this.#hasEnded] = [0, false];
    if (kind === "end") this.#hasEnded = true;
    this.#handlers[kind]?.(value);
  }
}

/** Where the server has everybody: by id, the place in the world and the health. */
function placesOf(buffer) {
  const view = new DataView(buffer);
  const places = new Map();
  for (let at = 1; at + 13 <= view.byteLength; at += 13) {
    const [x, y] = [view.getFloat32(at + 4, true), view.getFloat32(at + 8, true)];
    places.set(view.getUint32(at, true), { x, y, health: view.getUint8(at + 12) });
  }
  return places;
}
