import { connect, type TLSSocket } from 'node:tls';
import type { Json, JsonObject } from '../../src/api/json.ts';
import { type Connection, readKubeconfig } from '../../src/runtime/kubeconfig.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** An object or, for a patch, the list of its steps. */
export type Body = JsonObject | readonly Json[];

/**
 * A client over a number of connections that are kept. It writes its requests as text and reads no more of an answer than it must:
 * what it costs itself must not slow down what it measures, on a machine that both share.
 */
export class Load {
  readonly #lines: readonly Line[];
  readonly #free: Line[];
  readonly #waiting: ((line: Line) => void)[] = [];

  private constructor(lines: readonly Line[]) {
    this.#lines = lines;
    this.#free = [...lines];
  }

  static async open(kubeconfig: string, connections: number): Promise<Load> {
    const connection = await readKubeconfig(kubeconfig);
    return new Load(await Promise.all(Array.from({ length: connections }, () => Line.open(connection))));
  }

  get connections(): number {
    return this.#lines.length;
  }

  /** Waits for a connection that is free. */
  async send(method: string, path: string, body?: Body): Promise<Answer> {
    const line = this.#free.pop() ?? (await new Promise<Line>((resolve) => this.#waiting.push(resolve)));
    try {
      return await line.send(method, path, body);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(line);
      else next(line);
    }
  }

  /** As `send`, for what must succeed. */
  async ask(method: string, path: string, body?: Body): Promise<string> {
    const { status, text } = await this.send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text;
  }

  /** Does `one` for the numbers below `count`, as many at once as there are connections; returns how many a second. */
  async rate(count: number, one: (i: number) => Promise<unknown>): Promise<number> {
    const began = performance.now();
    let next = 0;
    const worker = async () => {
      while (next < count) await one(next++);
    };
    await Promise.all(Array.from({ length: this.connections }, worker));
    return count / ((performance.now() - began) / 1000);
  }

  close(): void {
    for (const line of this.#lines) line.close();
  }
}

/** One connection, and one request on it at a time. */
class Line {
  readonly #connection: Connection;
  readonly #head: string;
  #socket: TLSSocket;
  #text = '';
  #answered: ((answer: Answer) => void) | undefined;
  #broken: ((error: Error) => void) | undefined;

  private constructor(socket: TLSSocket, connection: Connection) {
    this.#connection = connection;
    this.#head = `Host: ${new URL(connection.server).host}\r\nAuthorization: Bearer ${connection.token}\r\n`;
    this.#socket = socket;
    this.#listen();
  }

  static async open(connection: Connection): Promise<Line> {
    return new Line(await dial(connection), connection);
  }

  async send(method: string, path: string, body?: Body): Promise<Answer> {
    // Servers close connections on which nothing was asked for a while.
    if (this.#socket.destroyed) {
      this.#socket = await dial(this.#connection);
      this.#listen();
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#answered = resolve;
    this.#broken = reject;
    const content = body === undefined ? '' : JSON.stringify(body);
    const length = Buffer.byteLength(content);
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\n${this.#head}Content-Type: ${typeOf(method, body)}\r\nContent-Length: ${length}\r\n\r\n${content}`,
    );
    return promise;
  }

  #listen(): void {
    this.#text = '';
    // Lengths are in bytes, and so are the characters of this encoding.
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (piece: string) => this.#take(piece));
    this.#socket.on('error', (error) => this.#broken?.(error));
    this.#socket.on('close', () => this.#broken?.(new Error('the server closed the connection')));
  }

  close(): void {
    this.#broken = undefined;
    this.#socket.destroy();
  }

  #take(piece: string): void {
    this.#text += piece;
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, end))?.[1] ?? 0);
    if (this.#text.length < end + 4 + length) return;
    const answer = { status: Number(this.#text.slice(9, 12)), text: this.#text.slice(end + 4) };
    this.#text = '';
    this.#answered?.(answer);
  }
}

async function dial({ server, ca }: Connection): Promise<TLSSocket> {
  const { hostname, port } = new URL(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: hostname, port: Number(port), ...(ca === undefined ? {} : { ca }) }, resolve);
  socket.once('error', reject);
  await promise;
  socket.off('error', reject);
  socket.setNoDelay(true);
  return socket;
}

function typeOf(method: string, body: Body | undefined): string {
  if (method !== 'PATCH') return 'application/json';
  return `application/${Array.isArray(body) ? 'json' : 'merge'}-patch+json`;
}
