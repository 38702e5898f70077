// Joins the world of the example server. All its pages share this code.

import { connect } from "./kinepack-package/connection.js";
import { Receiver, load } from "./kinepack-package/snapshots.js";

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));

// Returns a receiver that is connected. Calls `show` with messages about the connection.
export async function join(show) {
  await load();
  const { path, tokens, hash, schema, level, tickHz } = await (await fetch("join")).json();
  const receiver = new Receiver({ schema: bytesOf(schema), level, tickHz });
  const answer = (connection) => {
    for (let bytes = receiver.transmit(); bytes; bytes = receiver.transmit()) connection.send(bytes);
  };
  const connection = await connect({
    webTransport: `https://${location.host}${path}?token=${tokens[0]}`,
    certificateHash: bytesOf(hash),
    webSocket: `ws://${location.host}${path}?token=${tokens[1]}`,
    onDatagram(datagram, connection) {
      try {
        receiver.handle(datagram);
      } catch {
        // The receiver counts refused datagrams, such as duplicates.
      }
      answer(connection);
    },
    onClose: (reason) => show(`${reason}; reload the page to join again`),
  });
  // The timer sends the first datagram, and the datagrams that are due while nothing arrives.
  setInterval(() => answer(connection), 5);
  show(`joined by ${connection.kind}`);
  return receiver;
}
