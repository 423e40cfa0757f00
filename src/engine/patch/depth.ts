import type { Json } from '../../api/json.ts';
import { badRequest } from '../../api/status.ts';
import { MAX_DEPTH } from '../schema/depth.ts';

/** Throws 400 when `value` nests deeper than recursion may go; `what` begins the sentence. */
export function refuseTooDeep(value: Json | undefined, what: string): void {
  if (isTooDeep(value)) throw badRequest(`${what} is nested deeper than ${MAX_DEPTH} levels; flatten it`);
}

export function isTooDeep(value: Json | undefined, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isTooDeep(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isTooDeep(value[key], levels - 1)) return true;
  return false;
}
