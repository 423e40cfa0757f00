import { get } from 'node:https';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';

/** A watch of a collection from now on. */
export class Watch {
  readonly #end: () => void;

  private constructor(end: () => void) {
    this.#end = end;
  }

  /** `told` gets every event as its line of JSON. */
  static async open(kubeconfig: string, collection: string, told: (line: string) => void): Promise<Watch> {
    const { server, token, ca } = await readKubeconfig(kubeconfig);
    const headers = { Authorization: `Bearer ${token}` };
    const options = { headers, agent: false as const, ...(ca === undefined ? {} : { ca }) };
    const newest = await revision(`${server}${collection}?limit=1`, options);
    const url = `${server}${collection}?watch=1&timeoutSeconds=1000&resourceVersion=${newest}`;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const request = get(url, options, (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        const lines = (rest + piece).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) told(line);
      });
      resolve();
    });
    request.on('error', reject);
    await promise;
    return new Watch(() => request.destroy());
  }

  close(): void {
    this.#end();
  }
}

async function revision(url: string, options: object): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(url, options, async (response) => {
    try {
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      resolve(JSON.parse(text).metadata.resourceVersion);
    } catch (error) {
      reject(error);
    }
  }).on('error', reject);
  return promise;
}

/** Tells when objects come into a certain state for the first time, seen by a watch. */
export class Sightings {
  readonly #watch: Watch;
  readonly #seen: Set<string>;
  readonly #waiting: Map<string, () => void>;

  private constructor(watch: Watch, seen: Set<string>, waiting: Map<string, () => void>) {
    this.#watch = watch;
    this.#seen = seen;
    this.#waiting = waiting;
  }

  /** `isThere`: whether the event shows an object in the state that is waited for. */
  static async open(kubeconfig: string, collection: string, isThere: (line: string) => boolean): Promise<Sightings> {
    const seen = new Set<string>();
    const waiting = new Map<string, () => void>();
    const watch = await Watch.open(kubeconfig, collection, (line) => {
      if (!isThere(line)) return;
      const name = /"metadata":\{[^{]*?"name":"([^"]+)"/.exec(line)?.[1] ?? '';
      if (seen.has(name)) return;
      seen.add(name);
      waiting.get(name)?.();
      waiting.delete(name);
    });
    return new Sightings(watch, seen, waiting);
  }

  get count(): number {
    return this.#seen.size;
  }

  of(name: string): Promise<void> {
    if (this.#seen.has(name)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(name, resolve));
  }

  close(): void {
    this.#watch.close();
  }
}
