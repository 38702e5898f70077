export interface ConnectOptions {
  /** The address for WebTransport with its token: `https://play.example:4433/kinepack?token=…`. */
  webTransport?: string;
  /** The SHA-256 hash of the server's certificate, if the server signed it itself. */
  certificateHash?: BufferSource;
  /** The address for a WebSocket with its own token: `wss://play.example/kinepack?token=…`. */
  webSocket?: string;
  /**
   * Called with each datagram that arrives, and with the connection. Also send the receiver's
   * answers in this function: in a hidden tab, the browser slows timers to once per second, and
   * later to once a minute.
   */
  onDatagram(datagram: Uint8Array, connection: Connection): void;
  /** Called once when the connection ends, with the reason. */
  onClose?(reason: string): void;
  /** The time limit for each attempt in milliseconds; 4000 by default. */
  patienceMs?: number;
}

/** A connection that carries datagrams. Datagrams may be lost and overtake each other. */
export interface Connection {
  readonly kind: "webtransport" | "websocket";
  /**
   * The number of datagrams that `send` skipped because 64 waited in the browser, for example in an
   * outage.
   */
  readonly skipped: number;
  /** Sends a datagram, or skips it if 64 datagrams already wait. */
  send(datagram: Uint8Array): void;
  close(): void;
}

/**
 * Connects by WebTransport. Uses a WebSocket if the browser lacks WebTransport or the network
 * blocks it. Rejects with the reasons if both fail.
 */
export function connect(options: ConnectOptions): Promise<Connection>;
