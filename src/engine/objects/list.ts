import { ApiError, badRequest, expired, type FieldError, invalid, notFound } from '../../api/status.ts';
import { Compacted } from '../store/errors.ts';
import type { Version } from '../store/version.ts';
import type { Context, Target } from './context.ts';
import { decode, objectOf } from './encoding.ts';
import { type Selection, selection } from './selection.ts';

export interface Listing {
  readonly versions: readonly Version[];
  /** The revision at which all of this was true. */
  readonly revision: number;
  /** Where the next page begins; absent on the last one. */
  readonly continue?: string;
  /** How many objects the following pages hold, where that can be known without looking at them. */
  readonly remaining?: number;
}

/** GET of one object: always the newest that is on disk. */
export async function get(context: Context, target: Target, query: URLSearchParams): Promise<Version> {
  const { resource } = target.endpoint;
  await waitUntilFresh(context, query.get('resourceVersion') ?? '');
  const version = context.store.get(resource.id, target.namespace, target.name);
  if (version === undefined) throw notFound(resource, target.name);
  return version;
}

export async function list(context: Context, target: Target, query: URLSearchParams): Promise<Listing> {
  const wanted = selection(target.endpoint, query);
  const limit = numberIn(query, 'limit') ?? 0;
  const position = await startOf(context, query, limit);
  try {
    return collect(context, target, wanted, { ...position, limit });
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    const after = position.after;
    throw after === undefined
      ? expired(`The resourceVersion for the provided list is too old: ${position.at} (${error.oldest})`)
      : expired(
          'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or go on from where this one stopped, over the newest objects, with the continue token in this answer.',
          tokenOf(-1, after),
        );
  }
}

interface Position {
  /** The past revision to show; the newest when absent. */
  readonly at?: number;
  readonly after?: { namespace: string; name: string };
}

async function startOf(context: Context, query: URLSearchParams, limit: number): Promise<Position> {
  const token = query.get('continue') ?? '';
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const faults = listFaults({ token, version, match });
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults);
  if (token !== '') {
    if (version !== '' && version !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const { revision, after } = parseToken(token);
    if (revision > context.store.revision)
      throw badRequest('continue key is not valid: it is of a revision that never was');
    return revision < 0 ? { after } : { at: revision, after };
  }
  await waitUntilFresh(context, version);
  const isExact = match === 'Exact' || (match === '' && limit > 0 && version !== '' && version !== '0');
  return isExact ? { at: revisionOf(version) } : {};
}

function listFaults(options: { token: string; version: string; match: string }): FieldError[] {
  const { token, version, match } = options;
  const field = 'resourceVersionMatch';
  if (match === '') return [];
  const faults: FieldError[] = [];
  if (token !== '')
    faults.push({ type: 'Forbidden', field, detail: 'resourceVersionMatch is forbidden when continue is provided' });
  if (version === '') {
    faults.push({
      type: 'Forbidden',
      field,
      detail: 'resourceVersionMatch is forbidden unless resourceVersion is provided',
    });
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    faults.push({ type: 'NotSupported', field, value: match, detail: 'supported values: "Exact", "NotOlderThan"' });
  }
  if (match === 'Exact' && version === '0') {
    faults.push({
      type: 'Forbidden',
      field,
      detail: 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    });
  }
  return faults;
}

function collect(context: Context, target: Target, wanted: Selection, options: Position & { limit: number }): Listing {
  const { resource } = target.endpoint;
  const { at, limit } = options;
  if (wanted.name !== undefined && at === undefined && target.namespace !== '' && options.after === undefined) {
    const only = context.store.get(resource.id, target.namespace, wanted.name);
    const found = only !== undefined && wanted.matches(objectOf(target.endpoint, only)) ? [only] : [];
    return { versions: found, revision: context.store.revision };
  }
  const versions: Version[] = [];
  let after = options.after;
  let revision = at;
  for (;;) {
    const page = context.store.list({
      resource: resource.id,
      ...(target.namespace === '' ? {} : { namespace: target.namespace }),
      ...(revision === undefined ? {} : { at: revision }),
      ...(after === undefined ? {} : { after }),
      ...(limit > 0 ? { limit: wanted.isEverything ? limit : Math.max(limit, 500) } : {}),
    });
    revision ??= page.revision;
    for (const [i, version] of page.versions.entries()) {
      if (!wanted.isEverything && !wanted.matches(objectOf(target.endpoint, version))) continue;
      versions.push(version);
      const left = page.remaining + page.versions.length - i - 1;
      if (versions.length === limit && left > 0) {
        return {
          versions,
          revision,
          continue: tokenOf(revision, version),
          ...(wanted.isEverything ? { remaining: left } : {}),
        };
      }
    }
    const last = page.versions.at(-1);
    if (page.remaining === 0 || last === undefined) return { versions, revision };
    after = last;
  }
}

/** A client that has seen revision N must not be shown anything older; a revision from the future is waited for, but not long. */
export async function waitUntilFresh(context: Context, version: string): Promise<void> {
  if (version === '' || version === '0') return;
  const revision = revisionOf(version);
  if (revision <= context.store.revision || (await context.store.waitFor(revision, 3_000))) return;
  throw new ApiError(504, 'Timeout', `Too large resource version: ${revision}, current: ${context.store.revision}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

export function revisionOf(version: string): number {
  if (!/^\d{1,15}$/.test(version)) {
    throw badRequest(`Invalid value: "${version}": resourceVersion must be a number that this server has given out`);
  }
  return Number(version);
}

export function numberIn(query: URLSearchParams, parameter: string): number | undefined {
  const text = query.get(parameter);
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw badRequest(`${parameter} must be a whole number that is not negative, not "${text}"`);
  return Number(text);
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

function tokenOf(revision: number, last: { namespace: string; name: string }): string {
  const token = { v: TOKEN_VERSION, rv: revision, start: `${last.namespace}/${last.name}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function parseToken(text: string): { revision: number; after: { namespace: string; name: string } } {
  try {
    const token = decode(Buffer.from(text, 'base64url'));
    const start = /^([^/]*)\/([^/]+)\0$/.exec(String(token['start']));
    const revision = token['rv'];
    if (token['v'] === TOKEN_VERSION && typeof revision === 'number' && start !== null) {
      return { revision, after: { namespace: start[1] ?? '', name: start[2] ?? '' } };
    }
  } catch {
    // Not JSON: refused below like any other token that is not ours.
  }
  throw badRequest('continue key is not valid: give back the token of the previous page unchanged');
}
