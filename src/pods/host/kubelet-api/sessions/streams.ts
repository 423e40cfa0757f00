import type { Readable } from 'node:stream';
import type { Status } from '../../../../api/status.ts';

/** What a client and a command in a container have to say to each other, whatever protocol brings it over. */
export interface ClientStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Output | undefined;
  readonly stderr: Output | undefined;
  /** The size of the client's terminal, as soon as it is known, which may be never. */
  readonly firstSize: Promise<TerminalSize>;
  /** The size of the client's terminal: how it is now, if it is known, and whenever it changes. */
  onResize(changed: (size: TerminalSize) => void): void;
  /** Aborts when the client is gone. */
  readonly gone: AbortSignal;
  /** Says how it ended, and resolves when the client knows. */
  end(outcome: Outcome): Promise<void>;
}

/** Resolves when more may be written; what is written to a client that is gone is dropped. */
export type Output = (bytes: Buffer) => Promise<void>;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export type Outcome = Omit<Status, 'code'> & { readonly code?: number };

/** What a client wants of the streams there are. */
export interface Wanted {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}
