import { Refusal } from '../refusal.ts';

/** What somebody wants to see of a container's output. */
export interface LogOptions {
  readonly follow: boolean;
  /** Of the container before the one that runs or ran last. */
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** So many lines at the end; all when left out. */
  readonly tailLines: number | undefined;
  /** Cut after so many bytes, wherever that is. */
  readonly limitBytes: number | undefined;
  /** Nothing before it, in milliseconds since 1970. */
  readonly since: number | undefined;
  readonly stream: 'stdout' | 'stderr' | undefined;
}

/** @param now in milliseconds since 1970 */
export function logOptions(query: URLSearchParams, now: number): LogOptions {
  const sinceSeconds = wholeNumber(query, 'sinceSeconds', 1);
  const sinceTime = time(query, 'sinceTime');
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    throw new Refusal(422, 'at most one of `sinceTime` or `sinceSeconds` may be specified');
  }
  return {
    follow: isSet(query, 'follow'),
    previous: isSet(query, 'previous'),
    timestamps: isSet(query, 'timestamps'),
    // The older name; `all` is the same as leaving it out.
    tailLines: wholeNumber(query, query.get('tail') === 'all' || !query.has('tail') ? 'tailLines' : 'tail', 0),
    limitBytes: wholeNumber(query, 'limitBytes', 1),
    since: sinceTime ?? (sinceSeconds === undefined ? undefined : now - sinceSeconds * 1000),
    stream: stream(query),
  };
}

/** As Go reads a truth out of a query. */
const isSet = (query: URLSearchParams, name: string): boolean =>
  !['', '0', 'f', 'F', 'false', 'False', 'FALSE'].includes(query.get(name) ?? '');

function wholeNumber(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw new Refusal(400, `${name} must be a whole number, not "${text}"`);
  if (Number(text) < least) throw new Refusal(422, `${name} must be ${least} or more, not ${text}`);
  return Number(text);
}

function time(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const parsed = Date.parse(text);
  if (Number.isNaN(parsed)) throw new Refusal(400, `${name} must be a time as in RFC 3339, not "${text}"`);
  return parsed;
}

function stream(query: URLSearchParams): LogOptions['stream'] {
  switch (query.get('stream') ?? 'All') {
    case 'All':
      return undefined;
    case 'Stdout':
      return 'stdout';
    case 'Stderr':
      return 'stderr';
    default:
      throw new Refusal(400, `invalid stream type "${query.get('stream')}"`);
  }
}
