import { Agent, request } from 'node:https';
import type { JsonObject } from '../../src/api/json.ts';
import { type Connection, readKubeconfig } from '../../src/runtime/kubeconfig.ts';

/** A plain client over a number of connections: what it costs itself is small beside what it asks for. */
export class Load {
  readonly #connection: Connection;
  readonly #agent: Agent;
  readonly connections: number;

  private constructor(connection: Connection, connections: number) {
    this.#connection = connection;
    this.connections = connections;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connections,
      ...(connection.ca === undefined ? {} : { ca: connection.ca }),
    });
  }

  static async open(kubeconfig: string, connections: number): Promise<Load> {
    return new Load(await readKubeconfig(kubeconfig), connections);
  }

  async send(method: string, path: string, body?: JsonObject): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const sent = request(
      `${this.#connection.server}${path}`,
      {
        method,
        agent: this.#agent,
        headers: { Authorization: `Bearer ${this.#connection.token}`, 'Content-Type': 'application/json' },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  /** Sends `count` requests, as many at once as there are connections; returns how many a second. */
  async rate(count: number, one: (i: number) => Promise<void>): Promise<number> {
    const began = performance.now();
    let next = 0;
    const worker = async () => {
      while (next < count) await one(next++);
    };
    await Promise.all(Array.from({ length: this.connections }, worker));
    return count / ((performance.now() - began) / 1000);
  }

  close(): void {
    this.#agent.destroy();
  }
}
