import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Admission, UserInfo } from '../../src/api/admission.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import type { DeclaredKind } from '../../src/api/kind.ts';
import { type Engine, startEngine } from '../../src/engine/engine.ts';
import { shared } from '../../src/engine/objects/encoding.ts';
import type { ServiceRanges } from '../../src/engine/services/ranges.ts';
import type { StoreLimits } from '../../src/engine/store/store.ts';
import { silentLog } from '../../src/runtime/log.ts';
import type { ApiRequest, ApiResponse, Transport } from '../../src/runtime/transport.ts';

export interface EngineOptionsInTest {
  readonly directory?: string;
  readonly kinds?: readonly DeclaredKind[];
  readonly admission?: readonly Admission[];
  readonly limits?: Partial<StoreLimits>;
  readonly services?: ServiceRanges;
}

/** A real engine in a folder of its own, with short ways to ask it things. */
export class EngineInTest {
  readonly engine: Engine;
  readonly directory: string;
  readonly transport: Transport;

  private constructor(engine: Engine, directory: string) {
    this.engine = engine;
    this.directory = directory;
    this.transport = engine.transport('test');
  }

  static async start(options: EngineOptionsInTest = {}): Promise<EngineInTest> {
    const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'netloom-engine-')));
    shared.beStrict();
    const engine = await startEngine({
      directory,
      host: '127.0.0.1',
      port: 0,
      kubeconfig: join(directory, 'kubeconfig'),
      log: silentLog,
      ...(options.kinds === undefined ? {} : { kinds: options.kinds }),
      ...(options.admission === undefined ? {} : { admission: options.admission }),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.services === undefined ? {} : { services: options.services }),
    });
    return new EngineInTest(engine, directory);
  }

  /** Closes the engine and removes its folder. */
  async stop(): Promise<void> {
    await this.engine.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  as(user: UserInfo): Transport {
    return this.engine.transport('test', user);
  }

  get(path: string, accept?: string): Promise<ApiResponse> {
    return this.send({ method: 'GET', path, ...(accept === undefined ? {} : { accept }) });
  }

  post(path: string, body: Json): Promise<ApiResponse> {
    return this.send({ method: 'POST', path, body });
  }

  put(path: string, body: Json): Promise<ApiResponse> {
    return this.send({ method: 'PUT', path, body });
  }

  delete(path: string, body?: Json): Promise<ApiResponse> {
    return this.send({ method: 'DELETE', path, ...(body === undefined ? {} : { body }) });
  }

  patch(path: string, type: 'json' | 'merge' | 'strategic-merge' | 'apply', body: Json): Promise<ApiResponse> {
    const contentType = type === 'apply' ? 'application/apply-patch+yaml' : `application/${type}-patch+json`;
    return this.send({ method: 'PATCH', path, body, contentType });
  }

  send(request: ApiRequest): Promise<ApiResponse> {
    return this.transport.request(request);
  }

  /** The events of a watch until `count` of them have come; fails the test when they do not. */
  async events(path: string, count: number, accept?: string): Promise<JsonObject[]> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), 10_000);
    const events: JsonObject[] = [];
    const request = { method: 'GET' as const, path, signal: abort.signal, ...(accept === undefined ? {} : { accept }) };
    for await (const event of this.transport.stream(request)) {
      events.push(event);
      if (events.length === count) break;
    }
    clearTimeout(timer);
    abort.abort();
    if (events.length < count) throw new Error(`expected ${count} events of ${path}, got ${JSON.stringify(events)}`);
    return events;
  }
}

/** The value at a dotted path, for assertions: `at(body, 'metadata.name')`. */
export function at(value: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((inner, key) => {
    if (Array.isArray(inner)) return inner[Number(key)];
    return isJsonObject(inner) ? inner[key] : undefined;
  }, value);
}

/** Asks until the answer satisfies; what is promised "soon" has ten seconds. */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  within = 10_000,
): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    if (Date.now() > end) throw new Error(`still not so after ${within / 1000} s: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const configMap = (name: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

/** A definition with a status, a default, a list by key and a scale. */
export const gadgets = (extra: JsonObject = {}): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.test.example' },
  spec: {
    group: 'test.example',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        ],
        selectableFields: [{ jsonPath: '.spec.color' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 0, default: 3 },
                  color: { type: 'string' },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
                    },
                  },
                },
                ...extra,
              },
              status: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

export const gadget = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'test.example/v1',
  kind: 'Gadget',
  metadata: { name },
  spec,
});

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const GADGETS = '/apis/test.example/v1/namespaces/default/gadgets';
export const MAPS = '/api/v1/namespaces/default/configmaps';
