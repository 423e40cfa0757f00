import { ConfigMap, Secret } from '../../api/core/config.ts';
import type { Container, Pod, ProjectedSource, Volume } from '../../api/core/pod.ts';
import type { Kind } from '../../api/kind.ts';
import type { ApiObject } from '../../api/object.ts';
import type { Client } from '../../runtime/client.ts';
import type { Cancel, System } from '../../runtime/clock.ts';
import { Informer } from '../../runtime/informer.ts';
import type { Log } from '../../runtime/log.ts';
import { allContainersOf } from './pod-facts.ts';

/** An object that a pod refers to. */
export interface Reference {
  readonly kind: Kind<ConfigMap> | Kind<Secret>;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The ConfigMaps and Secrets that pods of this host refer to, each followed on its own, once, for as long as some pod needs it: an
 * agent may not see others, and what exists beyond them costs nothing.
 */
export class References {
  readonly #options: { client: Client; system: System; log: Log };
  readonly #followed = new Map<string, Followed>();

  constructor(options: { client: Client; system: System; log: Log }) {
    this.#options = options;
  }

  /** Calls `changed` when the object is known, be it there or not, and whenever that changes, until the result is called. */
  follow(reference: Reference, changed: () => void): Cancel {
    const key = keyOf(reference);
    const followed = this.#followed.get(key) ?? this.#begin(reference);
    this.#followed.set(key, followed);
    followed.listeners.add(changed);
    return () => {
      followed.listeners.delete(changed);
      if (followed.listeners.size > 0 || this.#followed.get(key) !== followed) return;
      this.#followed.delete(key);
      void followed.informer.stop();
    };
  }

  /** Whether it is known if there is such an object. */
  isKnown(reference: Reference): boolean {
    return this.#followed.get(keyOf(reference))?.informer.synced ?? false;
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#find({ kind: ConfigMap, namespace, name }) as ConfigMap | undefined;
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#find({ kind: Secret, namespace, name }) as Secret | undefined;
  }

  async stop(): Promise<void> {
    const all = [...this.#followed.values()];
    this.#followed.clear();
    await Promise.all(all.map(({ informer }) => informer.stop()));
  }

  #begin({ kind, namespace, name }: Reference): Followed {
    const listeners = new Set<() => void>();
    const tell = (): void => {
      for (const listener of [...listeners]) listener();
    };
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const informer = new Informer<ApiObject>({ ...this.#options, kind, scope });
    informer.onChange(tell);
    informer.start();
    void informer.whenSynced().then(tell);
    return { informer, listeners };
  }

  #find(reference: Reference): ApiObject | undefined {
    const { namespace, name } = reference;
    return this.#followed.get(keyOf(reference))?.informer.cache.get({ namespace, name });
  }
}

interface Followed {
  readonly informer: Informer<ApiObject>;
  readonly listeners: Set<() => void>;
}

const keyOf = ({ kind, namespace, name }: Reference): string => `${kind.plural}/${namespace}/${name}`;

/** Every object that a pod needs before it can run, or makes use of when it is there. */
export function referencesOf(pod: Pod): Reference[] {
  const namespace = pod.metadata.namespace ?? '';
  const found = new Map<string, Reference>();
  const add = (kind: Reference['kind'], name: string | undefined): void => {
    if (name === undefined || name === '') return;
    const reference = { kind, namespace, name };
    found.set(keyOf(reference), reference);
  };
  for (const container of allContainersOf(pod)) ofContainer(container, add);
  for (const volume of pod.spec.volumes ?? []) ofVolume(volume, add);
  return [...found.values()];
}

type Add = (kind: Reference['kind'], name: string | undefined) => void;

function ofContainer({ env = [], envFrom = [] }: Container, add: Add): void {
  for (const { configMapRef, secretRef } of envFrom) {
    add(ConfigMap, configMapRef?.name);
    add(Secret, secretRef?.name);
  }
  for (const { valueFrom } of env) {
    add(ConfigMap, valueFrom?.configMapKeyRef?.name);
    add(Secret, valueFrom?.secretKeyRef?.name);
  }
}

function ofVolume({ configMap, secret, projected }: Volume, add: Add): void {
  add(ConfigMap, configMap?.name);
  add(Secret, secret?.secretName);
  for (const source of projected?.sources ?? ([] as ProjectedSource[])) {
    add(ConfigMap, source.configMap?.name);
    add(Secret, source.secret?.name);
  }
}
