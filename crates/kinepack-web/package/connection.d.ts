export interface ConnectOptions {
  /** The address for WebTransport, with its token: `https://play.example:4433/kinepack?token=…`. */
  webTransport?: string;
  /** The SHA-256 hash of the server's certificate, if the server signed that itself. */
  certificateHash?: BufferSource;
  /** The address for a WebSocket, with a token of its own: `wss://play.example/kinepack?token=…`. */
  webSocket?: string;
  /** Gets each datagram that arrives. */
  onDatagram(datagram: Uint8Array): void;
  /** Called once when the connection ends, with the reason. */
  onClose?(reason: string): void;
  /** How long each attempt may take; 4000 by default. */
  patienceMs?: number;
}

/** A connection that carries datagrams. They may be lost and overtake each other. */
export interface Connection {
  readonly kind: "webtransport" | "websocket";
  send(datagram: Uint8Array): void;
  close(): void;
}

/**
 * Connects by WebTransport, or by WebSocket if there is no WebTransport here or nothing comes
 * through. Rejects with the reasons if both fail.
 */
export function connect(options: ConnectOptions): Promise<Connection>;
