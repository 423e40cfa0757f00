import { ApiError } from '../api/status.ts';

/** What the server has against an object that we would write. Somebody has to change something, so it belongs into the condition. */
export function objectionIn(error: unknown): ApiError | undefined {
  return error instanceof ApiError && OBJECTIONS.has(error.code) ? error : undefined;
}

const OBJECTIONS: ReadonlySet<number> = new Set([400, 403, 422]);
