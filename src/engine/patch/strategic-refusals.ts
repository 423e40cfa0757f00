import type { Json } from '../../api/json.ts';
import { type ApiError, badRequest } from '../../api/status.ts';

/** Where in a strategic merge patch something is wrong; `at` is a path like `.spec.containers`. */
export const shownPath = (at: string): string => (at === '' ? 'the patch' : `the patch at ${at.slice(1, 200)}`);

export const unknownDirective = (directive: Json, at: string): ApiError =>
  badRequest(
    `${shownPath(at)} has "$patch": ${JSON.stringify(directive).slice(0, 100)}; it must be replace, delete or merge`,
  );

export const orderWithoutMerge = (at: string): ApiError =>
  badRequest(`${shownPath(at)} has a $setElementOrder, but that list does not merge: it is replaced whole`);
