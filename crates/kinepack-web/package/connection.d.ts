export interface ConnectOptions {
  /** The address for WebTransport, with its token: `https://play.example:4433/kinepack?token=…`. */
  webTransport?: string;
  /** The SHA-256 hash of the server's certificate, if the server signed that itself. */
  certificateHash?: BufferSource;
  /** The address for a WebSocket, with a token of its own: `wss://play.example/kinepack?token=…`. */
  webSocket?: string;
  /**
   * Gets each datagram that arrives, with the connection: send what the receiver answers from here
   * too. In a hidden tab the browser slows timers to once a second, and later to once a minute.
   */
  onDatagram(datagram: Uint8Array, connection: Connection): void;
  /** Called once when the connection ends, with the reason. */
  onClose?(reason: string): void;
  /** How long each attempt may take; 4000 by default. */
  patienceMs?: number;
}

/** A connection that carries datagrams. They may be lost and overtake each other. */
export interface Connection {
  readonly kind: "webtransport" | "websocket";
  /** Datagrams that `send` skipped because 64 waited in the browser, for example in an outage. */
  readonly skipped: number;
  /** Sends a datagram, or skips it if 64 wait already. */
  send(datagram: Uint8Array): void;
  close(): void;
}

/**
 * Connects by WebTransport, or by WebSocket if there is no WebTransport here or nothing comes
 * through. Rejects with the reasons if both fail.
 */
export function connect(options: ConnectOptions): Promise<Connection>;
