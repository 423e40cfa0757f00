import { isJsonObject, type Json } from '../../src/api/json.ts';
import { apiVersionOf } from '../../src/api/kind.ts';
import { ApiError } from '../../src/api/status.ts';
import type { Right } from '../../src/runtime/right.ts';
import type { ApiRequest, ApiResponse, Transport } from '../../src/runtime/transport.ts';

interface Witnessed {
  readonly inner: Transport;
  /** What the controllers are said to need. */
  readonly rights: readonly Right[];
  /** Happens before each request. */
  readonly before: (request: ApiRequest) => Promise<void>;
}

/** A transport that remembers what it was used for, and what of that was refused for want of rights. */
export class WitnessedAccess implements Transport {
  /** Rejects with the first refusal. */
  readonly whileNothingIsRefused: Promise<never>;
  readonly #refuseAll: (why: Error) => void;
  readonly #inner: Transport;
  readonly #rights: readonly Right[];
  readonly #before: Witnessed['before'];
  readonly #attempts = new Map<string, Attempt>();

  constructor({ inner, rights, before }: Witnessed) {
    this.#inner = inner;
    this.#rights = rights;
    this.#before = before;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.whileNothingIsRefused = promise;
    this.#refuseAll = reject;
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    await this.#before(request);
    const response = await this.#inner.request(request);
    this.#noteOwners(request);
    this.#note(request, response.status);
    if (response.status === 403) this.#refuse(request, response.body['message']);
    return response;
  }

  async *stream(request: ApiRequest) {
    this.#note(request, 200);
    try {
      yield* this.#inner.stream(request);
    } catch (error) {
      if (error instanceof ApiError && error.code === 403) this.#refuse(request, error.message);
      throw error;
    }
  }

  /** Of the rights, one verb on one resource each, those that nothing was done by. */
  get unused(): string[] {
    const attempts = [...this.#attempts.values()];
    const unused = this.#rights.flatMap((right) =>
      right.verbs
        .filter((verb) => !attempts.some((attempt) => isBy(attempt, verb, right)))
        .map((verb) => `${verb} ${resourceOf(right)}`),
    );
    return [...new Set(unused)].sort();
  }

  #note(request: ApiRequest, status: number): void {
    const attempt = attemptOf(request);
    if (attempt === undefined || status === 403) return;
    // Whoever applies or patches what is not there creates it.
    const verbs = request.method === 'PATCH' && status === 201 ? ['patch', 'create'] : [attempt.verb];
    for (const verb of verbs) this.#add({ ...attempt, verb });
  }

  /** Whoever makes an owner wait for its children must be allowed to by some servers, to which this one does not belong. */
  #noteOwners(request: ApiRequest): void {
    for (const { apiVersion, kind } of ownersIn(request.body)) {
      const right = this.#rights.find(
        (each) =>
          each.subresource === 'finalizers' && each.kind.kind === kind && apiVersionOf(each.kind) === apiVersion,
      );
      if (right === undefined) this.#refuse(request, `it takes a right to update the finalizers of ${kind}`);
      else this.#add({ verb: 'update', resource: resourceOf(right), namespace: '' });
    }
  }

  #add(attempt: Attempt): void {
    this.#attempts.set(JSON.stringify(attempt), attempt);
  }

  #refuse({ method, path }: ApiRequest, message: unknown): void {
    this.#refuseAll(new Error(`${method} ${path} was refused: ${String(message)}`));
  }
}

interface Attempt {
  readonly verb: string;
  /** With its group and its subresource: `deployments.apps/status`. */
  readonly resource: string;
  readonly namespace: string;
}

const VERBS = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

function attemptOf({ method, path }: ApiRequest): Attempt | undefined {
  const url = new URL(path, 'https://server');
  const found = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(.+)$/.exec(url.pathname);
  if (found === null) return undefined;
  const [, group = '', rest = ''] = found;
  const parts = rest.split('/');
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? (parts[1] ?? '') : '';
  const [plural = '', name, subresource] = namespace === '' ? parts : parts.slice(2);
  const reading = url.searchParams.has('watch') ? 'watch' : name === undefined ? 'list' : 'get';
  const verb = method === 'GET' ? reading : VERBS[method];
  return { verb, resource: textOf(plural, group, subresource), namespace };
}

/** Those that wait for the object of a request. */
function ownersIn(body: Json | undefined): { apiVersion: Json | undefined; kind: Json | undefined }[] {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  const owners = isJsonObject(metadata) ? metadata['ownerReferences'] : undefined;
  return (Array.isArray(owners) ? owners : [])
    .filter((owner) => isJsonObject(owner))
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    .map(({ apiVersion, kind }) => ({ apiVersion, kind }));
}

const isBy = (attempt: Attempt, verb: string, right: Right): boolean =>
  attempt.verb === verb &&
  attempt.resource === resourceOf(right) &&
  (right.namespace === undefined || right.namespace === attempt.namespace);

const resourceOf = ({ kind: { plural, group }, subresource }: Right): string => textOf(plural, group, subresource);

const textOf = (plural: string, group: string, subresource = ''): string =>
  `${plural}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
