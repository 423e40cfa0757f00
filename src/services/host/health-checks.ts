import { createServer, type Server } from 'node:http';
import type { Cancel, System } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

/** What a balancer elsewhere is told of one Service. */
export interface Health {
  readonly port: number;
  /** How many backends this host has for who comes from outside. */
  readonly backends: number;
}

/** Another program may have the port for a while. */
const LATER = 5_000;

/**
 * Answers balancers that ask, by HTTP at a port of this host, whether to send connections for a Service here: 200 while the host has
 * backends of its own, 503 while it has none. In the words of kube-proxy.
 */
export class HealthChecks {
  readonly #system: System;
  readonly #log: Log;
  /** Service → where it is asked after. */
  readonly #asked = new Map<string, { health: Health; server: Server; cancel: Cancel }>();

  constructor({ system, log }: { system: System; log: Log }) {
    this.#system = system;
    this.#log = log;
  }

  /** @param service namespace/name */
  set(service: string, health: Health | undefined): void {
    const known = this.#asked.get(service);
    if (known !== undefined && known.health.port === health?.port) {
      known.health = health;
      return;
    }
    if (known !== undefined) this.#end(service);
    if (health !== undefined) this.#begin(service, health);
  }

  close(): void {
    for (const service of [...this.#asked.keys()]) this.#end(service);
  }

  #begin(service: string, health: Health): void {
    const server = createServer({ requestTimeout: 5_000, keepAliveTimeout: 5_000 }, (_, response) => {
      const { backends } = asked.health;
      const [namespace, name] = service.split('/');
      const body = { service: { namespace, name }, localEndpoints: backends, serviceProxyHealthy: true };
      response.writeHead(backends > 0 ? 200 : 503, {
        'content-type': 'application/json',
        'x-load-balancing-endpoint-weight': backends,
      });
      response.end(JSON.stringify(body));
    });
    server.maxConnections = 256;
    const asked = { health, server, cancel: () => {} };
    this.#asked.set(service, asked);
    const { port } = health;
    server.on('error', (error) => {
      this.#log.warn('balancers cannot ask whether this host has pods of a Service; will try again', {
        ...{ service, port, error },
      });
      asked.cancel = this.#system.timer(LATER, () => server.listen(port));
    });
    server.listen(port);
  }

  #end(service: string): void {
    const asked = this.#asked.get(service);
    this.#asked.delete(service);
    asked?.cancel();
    asked?.server.close();
    asked?.server.closeAllConnections();
  }
}
