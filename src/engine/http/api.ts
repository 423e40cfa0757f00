import { ApiError, badRequest, internalError, type Status } from '../../api/status.ts';
import { METRICS_TYPE } from '../../runtime/metrics.ts';
import { type Access, refusePath } from '../auth/access.ts';
import type { AccountTokens } from '../auth/tokens/account-tokens.ts';
import type { OpenId } from '../auth/tokens/open-id.ts';
import type { Context } from '../objects/context.ts';
import { groupOf } from '../resources/catalog.ts';
import { RevisionMismatch, Unstorable, WriteFailed } from '../store/errors.ts';
import { type Answer, type Call, isRelay, isStream, jsonAnswer, type Relay, type Stream, textAnswer } from './call.ts';
import type { Discovery } from './discovery.ts';
import type { Metrics } from './metrics.ts';
import { negotiate } from './negotiation.ts';
import type { OpenApi } from './openapi.ts';
import { openApiV2 } from './openapi-v2.ts';
import { parseResourcePath } from './paths.ts';
import { handleResource } from './resource-handler.ts';
import type { Reviews } from './reviews.ts';

export interface ApiParts {
  readonly context: Context;
  readonly access: Access;
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
  readonly reviews: Reviews;
  readonly tokens: AccountTokens;
  /** What others need to verify tokens of service accounts. */
  readonly openId: OpenId;
  readonly metrics: Metrics;
  /** What `GET /version` says. */
  readonly version: Readonly<Record<string, string>>;
  /** Told of faults of our own, which a client only sees as 500. */
  onFault(error: unknown, call: Call): void;
}

/** Answers every request, whatever it is: what goes wrong becomes a Status. */
export class Api {
  readonly #parts: ApiParts;

  constructor(parts: ApiParts) {
    this.#parts = parts;
  }

  async answer(call: Call): Promise<Answer | Stream | Relay> {
    const began = performance.now();
    let answer: Answer | Stream | Relay;
    try {
      answer = await this.#route(call);
    } catch (error) {
      answer = this.failure(error, call);
    }
    const code = isStream(answer) || isRelay(answer) ? 200 : answer.code;
    this.#parts.metrics.answered(call.method, code, performance.now() - began);
    return answer;
  }

  /** The Status that an error is to a client. */
  failure(error: unknown, call: Call): Answer {
    if (error instanceof ApiError) return statusAnswer(error.status);
    if (error instanceof WriteFailed) return statusAnswer(internalError(error.message).status);
    if (error instanceof Unstorable) return statusAnswer(badRequest(error.message).status);
    if (error instanceof RevisionMismatch) {
      return statusAnswer(new ApiError(409, 'Conflict', 'the object was changed at the same moment; try again').status);
    }
    this.#parts.onFault(error, call);
    return statusAnswer(internalError('an unexpected fault, which the log of the engine describes').status);
  }

  async #route(call: Call): Promise<Answer | Stream | Relay> {
    const path = parseResourcePath(call.path);
    if (path !== undefined) {
      return (await handleResource(this.#parts, path, call)) ?? this.#nothingAt(call.path);
    }
    const verb = call.method.toLowerCase();
    if (!this.#parts.access.mayUsePath(call.user, verb, call.path)) throw refusePath(call.user, verb, call.path);
    const document = call.method === 'GET' || call.method === 'HEAD' ? this.#document(call) : undefined;
    return document ?? this.#nothingAt(call.path);
  }

  #document(call: Call): Answer | undefined {
    const { discovery, openApi, version, metrics, context } = this.#parts;
    const path = call.path.length > 1 && call.path.endsWith('/') ? call.path.slice(0, -1) : call.path;
    switch (path) {
      case '/':
        return jsonAnswer(200, { paths: this.#paths() });
      case '/version':
        return jsonAnswer(200, version);
      case '/api':
      case '/apis': {
        const { as, contentType } = negotiate(call.accept, ['discovery']);
        if (as === 'discovery') {
          return discovery.aggregated(path === '/api' ? 'core' : 'named', contentType, call.ifNoneMatch);
        }
        return path === '/api' ? discovery.coreVersions() : discovery.groupList();
      }
      case '/openapi/v2':
        return openApiV2(call.accept);
      case '/openapi/v3':
        return openApi.index();
      case '/.well-known/openid-configuration':
        return jsonAnswer(200, this.#parts.openId.configuration());
      case '/openid/v1/jwks':
        return { ...jsonAnswer(200, this.#parts.openId.keys()), contentType: 'application/jwk-set+json' };
      case '/metrics':
        return { ...textAnswer(200, metrics.text(context)), contentType: METRICS_TYPE };
      case '/healthz':
      case '/livez':
      case '/readyz':
        return textAnswer(
          200,
          call.query.has('verbose') ? `[+]ping ok\n[+]store ok\n${path.slice(1)} check passed\n` : 'ok',
        );
      case '/healthz/ping':
      case '/livez/ping':
      case '/readyz/ping':
        return textAnswer(200, 'ok');
    }
    if (path.startsWith('/openapi/v3/')) {
      return openApi.document(path.slice('/openapi/v3/'.length), call.query.get('hash'));
    }
    const [, root, group, groupVersion, ...more] = path.split('/');
    if (more.length > 0) return undefined;
    if (root === 'api' && group !== undefined && groupVersion === undefined) return discovery.resourceList('', group);
    if (root === 'apis' && group !== undefined) {
      return groupVersion === undefined ? discovery.group(group) : discovery.resourceList(group, groupVersion);
    }
    return undefined;
  }

  /** Within a built-in group, what is not served is a Status; for any other path, and for custom groups, it is plain text. */
  #nothingAt(path: string): Answer {
    const [, root, group = ''] = path.split('/');
    const { resources } = this.#parts.context.catalog;
    const isBuiltIn = resources.some(
      (each) =>
        each.definition === undefined && each.endpoints.some((endpoint) => groupOf(endpoint.apiVersion) === group),
    );
    if (root !== 'api' && !(root === 'apis' && isBuiltIn)) return NO_SUCH_GROUP;
    return statusAnswer(new ApiError(404, 'NotFound', 'the server could not find the requested resource', {}).status);
  }

  #paths(): string[] {
    const versions = this.#parts.discovery
      .groupVersions()
      .flatMap(({ group, version }) =>
        group === '' ? [`/api/${version}`] : [`/apis/${group}`, `/apis/${group}/${version}`],
      );
    const others = [
      '/.well-known/openid-configuration',
      '/api',
      '/apis',
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/openid/v1/jwks',
      '/readyz',
      '/version',
    ];
    return [...new Set([...others, ...versions])].sort();
  }
}

/** What kube-apiserver says of a group that it does not know: not even a Status. */
const NO_SUCH_GROUP: Answer = textAnswer(404, '404 page not found\n');

function statusAnswer(status: Status): Answer {
  const seconds = status.details?.retryAfterSeconds;
  return jsonAnswer(status.code, status, seconds === undefined ? undefined : { 'Retry-After': String(seconds) });
}
