// The socket to the program. A socket that closes is opened again for as long as the page is open,
// soon at first and every few seconds later. The messages are described in ../protocol.rs.

const WAITS_MS = [500, 1000, 2000, 3000];
const TEXTS = ["hello", "status", "error", "end"];
const DATAGRAM = 0;
const PLACES = 1;
/** An id, two coordinates and the health. */
const PLACE_BYTES = 13;

/**
 * `handlers`: one function for each kind of message (`hello`, `status`, `error`, `end`, `datagram`,
 * `places`), `closed` and `unopened`. `closed` is called each time a socket closes, even if it never
 * opened, with the program's reason or "". If it never opened, `unopened` follows with whether the
 * program answers other requests.
 */
export class Connection {
  #handlers;
  #socket = null;
  #failures = 0;
  #isOver = false;

  constructor(handlers) {
    this.#handlers = handlers;
    this.#open();
  }

  /** Sends one message: an object, or the bytes of a datagram. Returns whether that was possible. */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
    return true;
  }

  /** Closes the socket for good. */
  close() {
    this.#isOver = true;
    this.#socket.close();
  }

  #open() {
    if (this.#isOver) return;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket`);
    socket.binaryType = "arraybuffer";
    let hasOpened = false;
    socket.addEventListener("open", () => { hasOpened = true; });
    socket.addEventListener("message", ({ data }) => this.#handle(data));
    socket.addEventListener("close", async ({ reason }) => {
      setTimeout(() => this.#open(), WAITS_MS[Math.min(this.#failures, WAITS_MS.length - 1)]);
      this.#failures += 1;
      this.#handlers.closed(reason);
      if (hasOpened) return;
      const isThere = await answers();
      // Meanwhile, the next socket may have opened.
      if (this.#socket.readyState !== WebSocket.OPEN) this.#handlers.unopened(isThere);
    });
    this.#socket = socket;
  }

  #handle(data) {
    if (data instanceof ArrayBuffer) this.#handleBinary(new Uint8Array(data));
    else this.#handleText(data);
  }

  #handleText(text) {
    const message = parsed(text);
    const kind = TEXTS.find((kind) => Object.hasOwn(message, kind));
    if (kind === undefined) {
      console.warn(`left out a message of the program: ${text.slice(0, 120)}`);
      return;
    }
    if (kind === "hello") this.#failures = 0;
    this.#handlers[kind](message[kind]);
  }

  #handleBinary(message) {
    const bytes = message.subarray(1);
    if (message[0] === DATAGRAM) this.#handlers.datagram(bytes);
    else if (message[0] === PLACES && bytes.length % PLACE_BYTES === 0) this.#handlers.places(placesOf(bytes));
    else console.warn(`left out a binary message of ${message.length} bytes`);
  }
}

/** Whether the program serves pages. A browser does not say why a socket was refused. */
async function answers() {
  try {
    return (await fetch("./", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** The object in a text, or an empty one. */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Everybody's place on the server, by id. */
function placesOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const places = new Map();
  for (let at = 0; at < bytes.length; at += PLACE_BYTES) {
    const [x, y] = [4, 8].map((offset) => view.getFloat32(at + offset, true));
    places.set(view.getUint32(at, true), { x, y, health: view.getUint8(at + 12) });
  }
  return places;
}
