import { dialer, type Endpoint, formatEndpoint, listen, parseEndpoint, type TlsFiles } from './sockets.ts';
import { Speaker, type SpeakerOptions } from './speaker.ts';
import { realSurroundings, type Surroundings } from './surroundings.ts';

export interface RouteServerOptions extends Omit<SpeakerOptions, 'isServer' | 'surroundings'> {
  /** Where hosts connect: `[::]:4711`. */
  readonly listen: string;
  /** Other servers, as `HOST:PORT`. Each of several servers may name all others; what one says is not passed on to another. */
  readonly servers?: readonly string[];
  readonly tls?: TlsFiles | undefined;
  readonly surroundings?: Surroundings;
}

/** Passes on to each host what the others have announced. */
export class RouteServer {
  readonly speaker: Speaker;
  readonly endpoint: Endpoint;
  readonly #close: () => Promise<void>;

  private constructor(speaker: Speaker, endpoint: Endpoint, close: () => Promise<void>) {
    this.speaker = speaker;
    this.endpoint = endpoint;
    this.#close = close;
  }

  static async start({ listen: address, servers = [], tls, ...options }: RouteServerOptions): Promise<RouteServer> {
    const others = servers.map(parseEndpoint);
    const speaker = new Speaker({ surroundings: realSurroundings, ...options, isServer: true });
    const { endpoint, close } = await listen(parseEndpoint(address), { accept: (wire) => speaker.accept(wire), tls });
    for (const other of others) speaker.connect(formatEndpoint(other), dialer(other, tls));
    return new RouteServer(speaker, endpoint, close);
  }

  /** Where it listens, as `HOST:PORT`. */
  get address(): string {
    return formatEndpoint(this.endpoint);
  }

  async stop(): Promise<void> {
    this.speaker.stop();
    await this.#close();
  }
}
