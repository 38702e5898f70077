// A connection to a server by WebTransport, or by WebSocket if WebTransport is missing or blocked.

const PATIENCE_MS = 4000;
// The maximum number of datagrams that the browser has accepted but not sent. After an outage, the
// browser sends all of them, however old they are.
const MAX_WAITING = 64;

export async function connect(options) {
  const { webTransport, webSocket, patienceMs = PATIENCE_MS } = options;
  const reasons = [];
  if (webTransport) {
    try {
      return await overDatagrams(options, patienceMs);
    } catch (error) {
      reasons.push(`WebTransport: ${error.message}`);
    }
  }
  if (webSocket) {
    try {
      return await overSocket(options, patienceMs);
    } catch (error) {
      reasons.push(`WebSocket: ${error.message}`);
    }
  }
  throw new Error(`no connection to the server: ${reasons.join("; ") || "no address was given"}`);
}

// Resolves like `promise`, or rejects if `promise` takes longer than `ms`.
export async function within(promise, ms, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Opens a WebTransport session, and waits until it is ready. `more` contains further options for
// `WebTransport`.
export async function openTransport(address, certificateHash, ms, more = {}) {
  if (typeof WebTransport !== "function") {
    throw new Error("this page has no WebTransport (it needs https or localhost, and a browser that has it)");
  }
  const transport = new WebTransport(address, {
    congestionControl: "low-latency",
    ...(certificateHash && {
      serverCertificateHashes: [{ algorithm: "sha-256", value: certificateHash }],
    }),
    ...more,
  });
  // The users of the session get this error too.
  transport.closed.catch(() => {});
  try {
    await within(transport.ready, ms, "the handshake");
  } catch (error) {
    transport.close();
    throw error;
  }
  return transport;
}

async function overDatagrams({ webTransport, certificateHash, onDatagram, onClose }, ms) {
  const transport = await openTransport(webTransport, certificateHash, ms);
  const { readable } = transport.datagrams;
  const writer = (transport.datagrams.createWritable?.() ?? transport.datagrams.writable).getWriter();
  let [isOpen, waiting, skipped] = [true, 0, 0];
  // The browser may also drop a datagram, as the network does.
  const settled = () => { waiting -= 1; };
  const close = (reason) => {
    if (!isOpen) return;
    isOpen = false;
    onClose?.(reason);
  };
  const closed = (info) => close(info?.reason || "the server closed the connection");
  transport.closed.then(closed, (error) => close(error.message));
  const connection = {
    kind: "webtransport",
    get skipped() {
      return skipped;
    },
    send(datagram) {
      if (!isOpen) return;
      if (waiting >= MAX_WAITING) {
        skipped += 1;
        return;
      }
      waiting += 1;
      writer.write(datagram).then(settled, settled);
    },
    close() {
      close("closed by this page");
      transport.close();
    },
  };
  (async () => {
    const reader = readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      onDatagram(value, connection);
    }
  })().catch((error) => close(error.message));
  return connection;
}

async function overSocket({ webSocket, onDatagram, onClose }, ms) {
  const socket = new WebSocket(webSocket);
  socket.binaryType = "arraybuffer";
  const opening = new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onclose = socket.onerror = () => reject(new Error("the server refused it, or is not there"));
  });
  try {
    await within(opening, ms, "opening it");
  } catch (error) {
    socket.close();
    throw error;
  }
  let [isOpen, skipped] = [true, 0];
  const waiting = new Waiting(socket);
  const close = (reason) => {
    if (!isOpen) return;
    isOpen = false;
    onClose?.(reason);
  };
  const connection = {
    kind: "websocket",
    get skipped() {
      return skipped;
    },
    send(datagram) {
      if (!isOpen || socket.readyState !== WebSocket.OPEN) return;
      if (waiting.count() >= MAX_WAITING) {
        skipped += 1;
        return;
      }
      waiting.add(datagram.byteLength);
      socket.send(datagram);
    },
    close() {
      close("closed by this page");
      socket.close();
    },
  };
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) onDatagram(new Uint8Array(data), connection);
  };
  socket.onerror = null;
  socket.onclose = (event) => close(event.reason || "the server closed the connection");
  return connection;
}

// Counts the datagrams that wait in a WebSocket. The WebSocket reports only the number of waiting
// bytes, and these belong to the newest datagrams.
class Waiting {
  #socket;
  #lengths = [];
  #bytes = 0;

  constructor(socket) {
    this.#socket = socket;
  }

  add(length) {
    this.#lengths.push(length);
    this.#bytes += length;
  }

  count() {
    const [lengths, waiting] = [this.#lengths, this.#socket.bufferedAmount];
    while (lengths.length > 0 && this.#bytes - lengths[0] >= waiting) this.#bytes -= lengths.shift();
    return lengths.length;
  }
}
