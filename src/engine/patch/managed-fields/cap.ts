import { noFields, union } from './field-set.ts';
import { compareText, identityOf, type Managers, secondsOf } from './managers.ts';

/** Every client name that ever updated an object would otherwise stay in it for ever. */
const mostUpdaters = 10;

/** Joins the oldest updating managers of each API version into one called `ancient-changes` until few enough are left. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= mostUpdaters) return managers;
  updaters.sort(([a, first], [b, second]) => secondsOf(first) - secondsOf(second) || compareText(a, b));
  const result = new Map(managers);
  const oldest = new Map<string, string>();
  let count = updaters.length;
  for (const [identity, updater] of updaters) {
    if (count <= mostUpdaters) break;
    const { apiVersion, time, fields } = updater;
    const bucket = identityOf({ ...ancient, apiVersion });
    const first = oldest.get(apiVersion);
    // Alone a manager stays who it is: joining one would save nothing and lose its name.
    if (first === undefined) oldest.set(apiVersion, identity);
    if (first === undefined || identity === bucket) continue;
    const joined = result.get(bucket) ?? result.get(first);
    if (!result.has(bucket)) result.delete(first);
    result.delete(identity);
    result.set(bucket, { ...ancient, apiVersion, time, fields: union(fields, joined?.fields ?? noFields) });
    count--;
  }
  return result;
}

const ancient = { name: 'ancient-changes', operation: 'Update', subresource: '' } as const;
