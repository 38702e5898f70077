// A connection to a server: WebTransport, and WebSocket where that is missing or blocked.

const PATIENCE_MS = 4000;

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

async function within(promise, ms, what) {
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

// A WebTransport session that is ready. `more` are other options of `WebTransport`.
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
  // Whoever uses the session sees it too.
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
  let isOpen = true;
  const close = (reason) => {
    if (!isOpen) return;
    isOpen = false;
    onClose?.(reason);
  };
  transport.closed.then(() => close("the server closed the connection"), (error) => close(error.message));
  (async () => {
    const reader = readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      onDatagram(value);
    }
  })().catch((error) => close(error.message));
  return {
    kind: "webtransport",
    send(datagram) {
      // A datagram that finds no room is lost, as on the network.
      if (isOpen) writer.write(datagram).catch(() => {});
    },
    close() {
      close("closed by this page");
      transport.close();
    },
  };
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
  let isOpen = true;
  const close = (reason) => {
    if (!isOpen) return;
    isOpen = false;
    onClose?.(reason);
  };
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) onDatagram(new Uint8Array(data));
  };
  socket.onerror = null;
  socket.onclose = () => close("the server closed the connection");
  return {
    kind: "websocket",
    send(datagram) {
      if (isOpen && socket.readyState === WebSocket.OPEN) socket.send(datagram);
    },
    close() {
      close("closed by this page");
      socket.close();
    },
  };
}
