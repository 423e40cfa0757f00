import type { Json, JsonObject } from '../api/json.ts';

/**
 * How a client reaches an API server: over HTTPS, or by calling the embedded engine in the same process. Both speak
 * the same paths, queries and media types, so nothing above can tell which one it has.
 */
export interface Transport {
  /** One answer. Refusals are answers too: only a server that cannot be reached rejects (with `Unreachable`). */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** The lines of a watch, until the server ends it or `signal` aborts. Rejects with an ApiError when refused. */
  stream(request: ApiRequest): AsyncIterable<JsonObject>;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the leading slash and the encoded query. */
  path: string;
  /** Sent as JSON; never changed by the transport. */
  body?: Json;
  /** Of the body; `application/json` when left out. */
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
}

export interface ApiResponse {
  status: number;
  /** Others may look at the same object: never changed by whoever asked. */
  body: JsonObject;
  /** The texts of `Warning` headers. */
  warnings: readonly string[];
}

/** The server could not be reached, or the connection broke before the answer was complete. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}
