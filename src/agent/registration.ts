import { Node } from '../api/core/node.ts';
import type { Client } from '../runtime/client.ts';

/** The metadata of a Node that are its host's to set. */
export interface OwnMetadata {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** Sees to it that the Node is there and bears what the host says of itself; labels of others stay. */
export class Registration {
  readonly #client: Client;
  readonly #name: string;
  readonly #metadata: OwnMetadata;
  #uid: string | undefined;

  constructor({ client, name, metadata }: { client: Client; name: string; metadata: OwnMetadata }) {
    this.#client = client;
    this.#name = name;
    this.#metadata = metadata;
  }

  /** The UID of the Node, which is made if need be. */
  async ensure(): Promise<string> {
    this.#uid ??= await this.#apply();
    return this.#uid;
  }

  /** To be called when the Node is gone, or says something else than its host. */
  forget(): void {
    this.#uid = undefined;
  }

  isOn({ metadata: { labels = {}, annotations = {} } }: Node): boolean {
    const has = (there: Record<string, string>, wanted: Record<string, string>): boolean =>
      Object.entries(wanted).every(([key, value]) => there[key] === value);
    return has(labels, this.#metadata.labels) && has(annotations, this.#metadata.annotations);
  }

  async #apply(): Promise<string> {
    // An apply, so that what is not said any more goes away again.
    const metadata = { name: this.#name, ...this.#metadata };
    return (await this.#client.apply(Node, { metadata }, { force: true })).metadata.uid;
  }
}
