import type { UserInfo } from '../../api/admission.ts';
import type { Json, JsonObject } from '../../api/json.ts';
import type { Sink } from '../objects/watch.ts';
import type { AgentRequest } from '../pods/agent-address.ts';

/** A request, whichever way it came: over HTTPS, or from the same process. */
export interface Call {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  /** The body where it is there as a value already: a copy that is ours to change. */
  value?(): Json | undefined;
  /** Reads the whole body; refuses one that is too large. */
  body(): Promise<Buffer>;
}

/** An answer that is complete. */
export interface Answer {
  readonly code: number;
  readonly contentType: string;
  /** Sent one after the other; large lists are never joined into one piece. */
  readonly chunks: readonly Buffer[];
  readonly warnings?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that goes on until one side ends it. `begin` returns how to stop. */
export interface Stream {
  readonly contentType: string;
  readonly warnings?: readonly string[];
  begin(sink: Sink<Buffer>): Promise<() => void>;
  /** The same for who needs no bytes. */
  beginObjects(sink: Sink<JsonObject>): Promise<() => void>;
}

/** An answer that the agent of a node gives: the connection is handed on to it. */
export interface Relay {
  readonly agent: AgentRequest;
}

export const isStream = (answer: Answer | Stream | Relay): answer is Stream => 'begin' in answer;
export const isRelay = (answer: Answer | Stream | Relay): answer is Relay => 'agent' in answer;

export const jsonAnswer = (code: number, value: unknown, headers?: Record<string, string>): Answer => ({
  code,
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify(value))],
  ...(headers === undefined ? {} : { headers }),
});

export const textAnswer = (code: number, text: string): Answer => ({
  code,
  contentType: 'text/plain; charset=utf-8',
  chunks: [Buffer.from(text)],
});
