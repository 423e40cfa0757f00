/** A connection, as sessions see it: bytes in order, or the end. Sockets are one kind; tests have another. */
export interface Wire {
  /** Who is at the other end, as people write it: `[2001:db8::1]:4711`. */
  readonly remote: string;
  /** The names in the certificate that the other side has shown; empty without one. */
  readonly names: readonly string[];
  /** False: hold back until `ready`. */
  send(bytes: Uint8Array): boolean;
  /** Ends the connection at once; `closed` is not called. */
  close(): void;
}

export interface WireHandler {
  received(bytes: Uint8Array): void;
  ready(): void;
  closed(reason: string): void;
}

/** Tries once to connect. Exactly one of the two is called, unless the attempt is cancelled before. */
export type Dial = (outcome: { opened(wire: Wire): WireHandler; failed(reason: string): void }) => () => void;
