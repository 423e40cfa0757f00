import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { METRICS_TYPE, type Metric, metricsText } from '../../runtime/metrics.ts';
import type { Endpoint } from './endpoint.ts';

/** Tells Prometheus what a process measures, and whoever starts it that it is alive. */
export class MetricsServer {
  readonly #server: Server;
  readonly #measured: () => readonly Metric[];

  private constructor(measured: () => readonly Metric[]) {
    this.#measured = measured;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start({ host, port }: Endpoint, measured: () => readonly Metric[]): Promise<MetricsServer> {
    const server = new MetricsServer(measured);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen({ host, port }, resolve);
    });
    return server;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('this server listens on a port');
    return `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer({ method, url = '/' }: IncomingMessage, response: ServerResponse): void {
    const [path] = url.split('?', 1);
    if (method !== 'GET' && method !== 'HEAD') say(response, 405, 'only GET is possible here\n');
    else if (path === '/metrics') say(response, 200, metricsText(this.#measured()), METRICS_TYPE);
    else if (path === '/healthz') say(response, 200, 'ok');
    else say(response, 404, 'there are /metrics and /healthz\n');
  }
}

function say(response: ServerResponse, code: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
}
