import type { Kind, ObjectOf } from '../../../src/api/kind.ts';
import type { ApiObject } from '../../../src/api/object.ts';
import type { Client } from '../../../src/runtime/client.ts';
import { keyOfObject } from '../../../src/runtime/ref.ts';

/** What a server has: a simulated one now, a real one as it was last seen. Nobody may change what is shown. */
export interface Sight {
  stored<K extends Kind>(kind: K): readonly ObjectOf<K>[];
  /** `key`: the namespace and the name. */
  find<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined;
}

/** What a real server has. */
export class Glance implements Sight {
  readonly #client: Client;
  readonly #kinds: readonly Kind[];
  #objects = new Map<Kind, readonly ApiObject[]>();

  constructor({ client, kinds }: { client: Client; kinds: readonly Kind[] }) {
    this.#client = client;
    this.#kinds = kinds;
  }

  /** Rejects when the server cannot be reached; then everything is as it was. */
  async look(): Promise<void> {
    const lists = this.#kinds.map(async (kind) => [kind, await this.#client.list(kind)] as const);
    this.#objects = new Map(await Promise.all(lists));
  }

  stored<K extends Kind>(kind: K): readonly ObjectOf<K>[] {
    return (this.#objects.get(kind) ?? []) as readonly unknown[] as readonly ObjectOf<K>[];
  }

  find<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    return this.stored(kind).find((object) => keyOfObject(object as ApiObject) === key);
  }
}
