import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { METRICS_TYPE, metricsText } from '../runtime/metrics.ts';
import { speakerMetrics } from './metrics.ts';
import { page, pagePolicy } from './page.ts';
import { routesDocument } from './routes-document.ts';
import { type Endpoint, formatEndpoint } from './sockets.ts';
import type { Speaker } from './speaker.ts';
import { peerViews, summaryOf } from './view.ts';

/** Shows what a speaker knows: to people, to `netloom routes show`, and to Prometheus. It changes nothing. */
export class RouteView {
  readonly #speaker: Speaker;
  readonly #server: Server;
  readonly #watchers = new Set<ServerResponse>();
  #lastSummary = '';
  #ticker: NodeJS.Timeout | undefined;

  private constructor(speaker: Speaker) {
    this.#speaker = speaker;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(speaker: Speaker, { host, port }: Endpoint): Promise<RouteView> {
    const view = new RouteView(speaker);
    await new Promise<void>((resolve, reject) => {
      view.#server.once('error', reject);
      view.#server.listen({ port, ...(host === '' ? {} : { host }) }, resolve);
    });
    return view;
  }

  /** Where it is, with a slash at the end. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new Error('an HTTP server listens on an address with a port');
    return `http://${formatEndpoint({ host: address.address, port: address.port })}/`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticker);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('cache-control', 'no-store');
    if (request.method !== 'GET') return refuse(response, 405, 'only GET is possible here');
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://here');
    if (pathname === '/') {
      response.setHeader('content-security-policy', pagePolicy);
      send(response, 'text/html; charset=utf-8', page);
    } else if (pathname === '/peers.json')
      send(response, 'application/json', JSON.stringify({ peers: [...peerViews(this.#speaker)] }));
    else if (pathname === '/metrics') send(response, METRICS_TYPE, metricsText(speakerMetrics(this.#speaker)));
    else if (pathname === '/events') this.#watch(response);
    else if (pathname === '/routes.json' || pathname === '/routes.yaml')
      await this.#sendRoutes(pathname, searchParams, response);
    else refuse(response, 404, 'there are /, /routes.json, /routes.yaml, /peers.json, /events and /metrics');
  }

  async #sendRoutes(path: string, query: URLSearchParams, response: ServerResponse): Promise<void> {
    const vni = numberIn(query, 'vni');
    const limit = numberIn(query, 'limit');
    if (Number.isNaN(vni) || Number.isNaN(limit))
      return refuse(response, 400, '"vni" and "limit" must be whole numbers');
    const form = path === '/routes.json' ? 'json' : 'yaml';
    response.setHeader('content-type', `application/${form}`);
    const text = routesDocument(this.#speaker, { vni, limit, prefix: query.get('prefix') ?? '' }, form);
    await pipeline(Readable.from(inPieces(text)), response);
  }

  /** An event now, and one whenever something has changed. Who does not read misses some, and sees the newest later. */
  #watch(response: ServerResponse): void {
    if (this.#watchers.size >= mostWatchers) {
      refuse(response, 503, 'too many are watching already');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#watchers.add(response);
    response.on('close', () => {
      this.#watchers.delete(response);
      if (this.#watchers.size === 0) clearInterval(this.#ticker);
    });
    tell(response, JSON.stringify(summaryOf(this.#speaker)));
    if (this.#watchers.size === 1) this.#ticker = setInterval(() => this.#tellWatchers(), 500);
  }

  #tellWatchers(): void {
    const summary = JSON.stringify(summaryOf(this.#speaker));
    if (summary === this.#lastSummary) return;
    this.#lastSummary = summary;
    for (const watcher of this.#watchers) if (!watcher.writableNeedDrain) tell(watcher, summary);
  }
}

const mostWatchers = 100;

function tell(watcher: ServerResponse, summary: string): void {
  watcher.write(`event: summary\ndata: ${summary}\n\n`);
}

/** undefined: not there; NaN: not a number. */
function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null ? undefined : /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { 'content-type': type }).end(body);
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}

/** Joins small texts, so that not every line becomes a packet. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
