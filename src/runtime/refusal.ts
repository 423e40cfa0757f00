import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';
import { ApiError, type Status, type StatusCause, type StatusDetails } from '../api/status.ts';

/** The error that an answer stands for whose code is 400 or more. */
export function refusal(code: number, body: JsonObject): ApiError {
  const error = ApiError.from(statusOf(body));
  // Proxies between us and the server may change the body, but the code of the answer is what they stand for.
  error.status.code = code;
  return error;
}

/** Reads a Status with the eyes of somebody who does not trust its sender: what has the wrong type is left out. */
export function statusOf(body: JsonObject): Status {
  const message = text(body['message']);
  const reason = text(body['reason']);
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
  const continueToken = text(metadata['continue']);
  const code = body['code'];
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: continueToken === undefined ? {} : { continue: continueToken },
    status: body['status'] === 'Success' ? 'Success' : 'Failure',
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(isJsonObject(body['details']) ? { details: detailsOf(body['details']) } : {}),
    code: typeof code === 'number' ? code : 500,
  };
}

/** A Status in place of a body that is none, as an unknown path or a proxy answers. */
export const statusFromText = (code: number, words: string): JsonObject => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: words.trim() === '' ? `the server answered ${code} without a reason` : words.trim().slice(0, 1024),
  code,
});

function detailsOf(details: JsonObject): StatusDetails {
  const read: StatusDetails = {};
  for (const key of ['name', 'group', 'kind', 'uid'] as const) {
    const value = text(details[key]);
    if (value !== undefined) read[key] = value;
  }
  const seconds = details['retryAfterSeconds'];
  if (typeof seconds === 'number') read.retryAfterSeconds = seconds;
  if (Array.isArray(details['causes'])) read.causes = details['causes'].filter(isJsonObject).map(causeOf);
  return read;
}

function causeOf(cause: JsonObject): StatusCause {
  const read: StatusCause = {};
  for (const key of ['reason', 'message', 'field'] as const) {
    const value = text(cause[key]);
    if (value !== undefined) read[key] = value;
  }
  return read;
}

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
