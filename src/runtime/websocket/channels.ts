import type { WebSocketConnection } from './connection.ts';

/** How streams share a WebSocket: the first byte of each message says to which of them the rest belongs. */
export interface ChannelProtocol {
  /** Messages are text: the channel as a digit, the rest in base64. */
  readonly base64: boolean;
  /** Each side can say that it is done with one of the channels. */
  readonly canClose: boolean;
  /** How it ended is told as a Status; otherwise only failures are told, as text. */
  readonly hasStatus: boolean;
}

/** By the names under which clients know them. */
export const CHANNEL_PROTOCOLS: ReadonlyMap<string, ChannelProtocol> = new Map([
  ['v5.channel.k8s.io', { base64: false, canClose: true, hasStatus: true }],
  ['v4.channel.k8s.io', { base64: false, canClose: false, hasStatus: true }],
  ['v4.base64.channel.k8s.io', { base64: true, canClose: false, hasStatus: true }],
  ['channel.k8s.io', { base64: false, canClose: false, hasStatus: false }],
  ['base64.channel.k8s.io', { base64: true, canClose: false, hasStatus: false }],
]);

/** What a client that names no protocol speaks. */
export const OLDEST_CHANNELS: ChannelProtocol = { base64: false, canClose: false, hasStatus: false };

export interface Arrival {
  readonly channel: number;
  /** Undefined when the client is done with the channel. */
  readonly bytes: Buffer | undefined;
}

export class Channels {
  readonly #socket: WebSocketConnection;
  readonly #protocol: ChannelProtocol;

  constructor(socket: WebSocketConnection, protocol: ChannelProtocol) {
    this.#socket = socket;
    this.#protocol = protocol;
  }

  get gone(): AbortSignal {
    return this.#socket.gone;
  }

  /** What comes, as it comes and as fast as it is taken, until the client closes. */
  async *arrivals(): AsyncGenerator<Arrival> {
    let channel: number | undefined;
    let text = '';
    for await (const { first, last, bytes } of this.#socket.data()) {
      if (first) channel = undefined;
      if (this.#protocol.base64) {
        text = `${first ? '' : text}${bytes.toString('latin1')}`;
        if (text.length > LONGEST_TEXT) return void this.#socket.close(1009, 'a message in base64 cannot be that long');
        if (last && text !== '')
          yield { channel: text.charCodeAt(0) - ZERO, bytes: Buffer.from(text.slice(1), 'base64') };
        continue;
      }
      const rest = channel === undefined ? bytes.subarray(1) : bytes;
      channel ??= bytes[0];
      if (channel === undefined || rest.length === 0) continue;
      if (channel === CLOSE && this.#protocol.canClose) yield { channel: rest[0] ?? CLOSE, bytes: undefined };
      else yield { channel, bytes: rest };
    }
  }

  /** Resolves when more may be sent. */
  send(channel: number, bytes: Buffer): Promise<void> {
    return this.#protocol.base64
      ? this.#socket.send('text', Buffer.from(`${channel}${bytes.toString('base64')}`, 'latin1'))
      : this.#socket.send('binary', Buffer.of(channel), bytes);
  }

  readonly fail = (error: unknown): void => this.#socket.fail(error);

  close(): Promise<void> {
    return this.#socket.close();
  }
}

const CLOSE = 255;
const ZERO = 0x30;
const LONGEST_TEXT = 1024 * 1024;
