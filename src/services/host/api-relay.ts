import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface ApiRelayOptions {
  readonly address: string;
  readonly port: number;
  readonly target: { readonly host: string; readonly port: number };
}

/**
 * The way of this host's pods to the API, which may be where only the agent reaches it. Bytes pass as they are: who
 * speaks to whom is between the pod and the API, by TLS and the pod's own token.
 */
export class ApiRelay {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  private constructor({ target }: ApiRelayOptions) {
    this.#server = createServer({ allowHalfOpen: true, keepAlive: true, noDelay: true }, (inner) => {
      const outer = connect({ ...target, allowHalfOpen: true, keepAlive: true, noDelay: true });
      this.#keep(inner, outer);
      this.#keep(outer, inner);
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  static async start(options: ApiRelayOptions): Promise<ApiRelay> {
    const relay = new ApiRelay(options);
    relay.#server.listen(options.port, options.address);
    await once(relay.#server, 'listening');
    return relay;
  }

  get port(): number {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? 0 : address.port;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** Passes on what comes from one side, and its end. */
  #keep(from: Socket, to: Socket): void {
    this.#connections.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#connections.delete(from);
      // After an orderly end the other side may still have something to say.
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(to);
  }
}

/** More than all pods of a host need, fewer than the agent has descriptors for. */
const MOST_CONNECTIONS = 2_000;
