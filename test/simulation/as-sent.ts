import type { JsonObject } from '../../src/api/json.ts';

/** What arrives at the other end: a copy that shares nothing, without what JSON cannot say. */
export const asSent = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
