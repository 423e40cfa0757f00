import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { asError, type Log } from '../../runtime/log.ts';
import { followAliases, type Knowledge } from './aliases.ts';
import { CODES, encodeReply, parseQuestion, type Question, type Reply } from './dns-message.ts';
import { Upstream } from './upstream.ts';

export interface ResolverOptions {
  readonly address: string;
  readonly port: number;
  /** The answers that are ours to give. */
  readonly answer: (question: Question) => Reply | undefined;
  /** Who is asked for all other names. */
  readonly upstream: () => readonly string[];
  readonly log: Log;
}

/** So many questions of one client may be on their way to others at once, and so many connections of it are kept: all of a host share us. */
const MOST_OF_ONE = { questions: 200, connections: 32 };

/** A small DNS server for the pods of this host: names of Services from memory, all others from those who know. */
export class Resolver {
  readonly #options: ResolverOptions;
  readonly #upstream: Upstream;
  readonly #knowledge: Knowledge;
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  readonly #connections = new Set<Socket>();
  /** Client → how many of its questions are being answered. */
  readonly #underWay = new Map<string, number>();
  #isStopped = false;

  private constructor(options: ResolverOptions) {
    this.#options = options;
    this.#upstream = new Upstream(options.upstream);
    this.#knowledge = { own: options.answer, others: (message, way) => this.#upstream.ask(message, way) };
    this.#udp = createSocket(options.address.includes(':') ? 'udp6' : 'udp4', (message, from) => {
      void this.#answer(message, 'udp', from.address).then((answer) => this.#sendBack(answer, from));
    });
    this.#tcp = createServer((socket) => void this.#serve(socket));
    this.#tcp.maxConnections = 256;
  }

  static async start(options: ResolverOptions): Promise<Resolver> {
    const resolver = new Resolver(options);
    const { address, port } = options;
    try {
      resolver.#udp.bind(port, address);
      await once(resolver.#udp, 'listening');
      resolver.#udp.on('error', (error) => options.log.warn('the resolver had trouble with its socket', { error }));
      resolver.#tcp.listen(resolver.port, address);
      await once(resolver.#tcp, 'listening');
      return resolver;
    } catch (error) {
      resolver.#udp.close();
      throw error;
    }
  }

  get port(): number {
    return this.#udp.address().port;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#udp.close();
    this.#upstream.close();
    const closed = once(this.#tcp, 'close');
    this.#tcp.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  async #answer(message: Buffer, way: 'udp' | 'tcp', client: string): Promise<Buffer | undefined> {
    const question = parseQuestion(message);
    if (question === undefined) return undefined;
    const limit = way === 'udp' ? question.largestAnswer : 65_535;
    const encode = (reply: Reply): Buffer => encodeReply(question, reply, limit);
    if (question.opcode !== 0 || question.class !== 1) return encode({ code: CODES.notImplemented, answers: [] });
    if (question.version > 0) return encode({ code: CODES.badVersion, answers: [] });
    const underWay = this.#underWay.get(client) ?? 0;
    if (underWay >= MOST_OF_ONE.questions) return encode({ code: CODES.refused, answers: [] });
    this.#underWay.set(client, underWay + 1);
    try {
      const own = this.#options.answer(question);
      if (own !== undefined) return encode(await followAliases(question, own, this.#knowledge));
      const foreign = await this.#upstream.ask(message, way);
      return foreign ?? encode({ code: this.#upstream.isThere ? CODES.serverFailure : CODES.refused, answers: [] });
    } catch (error) {
      this.#options.log.error('a question could not be answered', { name: question.name, error: asError(error) });
      return encode({ code: CODES.serverFailure, answers: [] });
    } finally {
      const left = (this.#underWay.get(client) ?? 1) - 1;
      if (left > 0) this.#underWay.set(client, left);
      else this.#underWay.delete(client);
    }
  }

  #sendBack(answer: Buffer | undefined, { port, address }: RemoteInfo): void {
    // Who asked may be gone; that is for the log of nobody. So may we. A port 0 is nowhere, and only on packets that are forged.
    if (answer === undefined || this.#isStopped || port === 0) return;
    this.#udp.send(answer, port, address, () => {});
  }

  /** Messages over TCP follow each other, each after its length. Who does not take answers is not heard any further. */
  async #serve(socket: Socket): Promise<void> {
    const { remoteAddress: client = '' } = socket;
    const ofClient = [...this.#connections].filter(({ remoteAddress }) => remoteAddress === client);
    if (ofClient.length >= MOST_OF_ONE.connections) return void socket.destroy();
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(10_000, () => socket.destroy());
    let rest = Buffer.alloc(0);
    try {
      for await (const chunk of socket) {
        rest = Buffer.concat([rest, chunk]);
        while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
          const end = 2 + rest.readUInt16BE(0);
          const answer = await this.#answer(rest.subarray(2, end), 'tcp', client);
          rest = rest.subarray(end);
          if (answer === undefined || socket.destroyed) return;
          if (!socket.write(framed(answer))) await once(socket, 'drain');
        }
      }
    } catch {
      // The connection broke, or the time was up.
    } finally {
      socket.destroySoon();
    }
  }
}

export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
