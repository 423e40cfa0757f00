import { cFunction, KernelError } from '../kernel.ts';
import { decode, encode, flag, type Message, messageType, type Request, readAcknowledgement } from './message.ts';

/**
 * Talks to a part of the kernel, of the network namespace in which it was opened, wherever this process goes afterwards: to the one for
 * links, addresses, routes, rules and neighbours unless it says otherwise. It keeps that namespace alive, so whoever opens one closes it.
 * The kernel has answered when a call returns.
 */
export class Netlink {
  readonly #socket: number;
  #sequence = 0;

  constructor(part: keyof typeof PARTS = 'route') {
    this.#socket = socket('open a netlink socket', AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, PARTS[part]);
    for (const option of [CAP_ACK, EXT_ACK, GET_STRICT_CHK]) {
      setsockopt('set up a netlink socket', this.#socket, SOL_NETLINK, option, Buffer.of(1, 0, 0, 0), 4);
    }
    setsockopt('set up a netlink socket', this.#socket, SOL_SOCKET, SO_RCVTIMEO, TIMEOUT, TIMEOUT.length);
  }

  /** Throws what the kernel says against it. */
  request(request: Request): void {
    const [refusal] = this.requestAll([request]);
    if (refusal !== undefined) throw refusal;
  }

  /** Many at once: one call for a hundred of them. One that is refused does not stop the next; the answers are in their order. */
  requestAll(requests: readonly Request[]): (KernelError | undefined)[] {
    const answers: (KernelError | undefined)[] = [];
    for (let from = 0; from < requests.length; from += AT_ONCE) {
      answers.push(...this.#requestSome(requests.slice(from, from + AT_ONCE)));
    }
    return answers;
  }

  /** All of them or none: for the part that takes what is between two ends as one. Throws what the kernel says against it. */
  transaction(requests: readonly Request[], { begin, end }: { begin: Request; end: Request }): void {
    const last = requests.at(-1);
    if (last === undefined) return;
    const all = [begin, ...requests, end];
    const first = this.#sequence + 1;
    // Not every kernel answers the end: whoever waits for that one may wait for ever.
    const messages = all.map((request) =>
      encode(
        { ...request, flags: request.flags | flag.request | (request === last ? flag.acknowledge : 0) },
        this.#next(),
      ),
    );
    this.#send(last.doing, messages);
    for (const message of this.#receive(last.doing)) {
      const request = all[message.sequence - first];
      if (message.type !== messageType.error || request === undefined) continue;
      const { errno, said } = readAcknowledgement(message);
      if (errno !== 0) throw new KernelError(request.doing, errno, said);
      if (request === last) return;
    }
  }

  /** All the kernel has of a kind. */
  dump({ doing, type, body }: Omit<Request, 'flags'>): Message[] {
    for (let attempt = 1; ; attempt += 1) {
      this.#send(doing, [encode({ type, flags: flag.request | flag.dump, body }, this.#next())]);
      const messages: Message[] = [];
      let interrupted = false;
      for (const message of this.#receive(doing)) {
        interrupted ||= (message.flags & DUMP_INTERRUPTED) !== 0;
        if (message.type === messageType.error || message.type === messageType.done) {
          const { errno, said } = readAcknowledgement(message);
          if (errno !== 0) throw new KernelError(doing, errno, said);
          break;
        }
        messages.push(message);
      }
      // What was being listed changed meanwhile, so the list may lack something that was there all the time.
      if (!interrupted || attempt === ATTEMPTS) return messages;
    }
  }

  /** One object, as the kernel has it now. */
  get({ doing, type, body }: Omit<Request, 'flags'>): Message {
    this.#send(doing, [encode({ type, flags: flag.request, body }, this.#next())]);
    for (const message of this.#receive(doing)) {
      if (message.type !== messageType.error) return message;
      const { errno, said } = readAcknowledgement(message);
      throw new KernelError(doing, errno, said);
    }
    throw new Error(`cannot ${doing}: the kernel did not answer`);
  }

  close(): void {
    close('close a netlink socket', this.#socket);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** The last one is always answered, the others only when they fail: so few answers that the socket has room for them. */
  #requestSome(requests: readonly Request[]): (KernelError | undefined)[] {
    const last = requests.at(-1);
    if (last === undefined) return [];
    const first = this.#sequence + 1;
    const messages = requests.map((request) =>
      encode(
        { ...request, flags: request.flags | flag.request | (request === last ? flag.acknowledge : 0) },
        this.#next(),
      ),
    );
    this.#send(last.doing, messages);
    const answers: (KernelError | undefined)[] = requests.map(() => undefined);
    for (const message of this.#receive(last.doing)) {
      const index = message.sequence - first;
      const request = requests[index];
      if (message.type !== messageType.error || request === undefined) continue;
      const { errno, said } = readAcknowledgement(message);
      if (errno !== 0) answers[index] = new KernelError(request.doing, errno, said);
      if (request === last) break;
    }
    return answers;
  }

  #next(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  #send(doing: string, messages: readonly Buffer[]): void {
    const bytes = Buffer.concat(messages);
    sendto(doing, this.#socket, bytes, bytes.length, 0, TO_KERNEL, TO_KERNEL.length);
  }

  *#receive(doing: string): Generator<Message> {
    for (;;) {
      const length = recv(doing, this.#socket, received, received.length, 0);
      // The room is used again for the next answer.
      yield* decode(Buffer.from(received.subarray(0, length)));
    }
  }
}

const socket = cFunction('int socket(int domain, int type, int protocol)');
const setsockopt = cFunction('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)');
const sendto = cFunction(
  'int64_t sendto(int fd, const void *bytes, uint64_t length, int flags, const void *to, uint32_t size)',
);
const recv = cFunction('int64_t recv(int fd, void *bytes, uint64_t length, int flags)');
const close = cFunction('int close(int fd)');

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_CLOEXEC = 0o2000000;
const PARTS = { route: 0, netfilter: 12 } as const;
const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
const SOL_NETLINK = 270;
const CAP_ACK = 10;
const EXT_ACK = 11;
const GET_STRICT_CHK = 12;
const DUMP_INTERRUPTED = 0x10;
const AT_ONCE = 100;
const ATTEMPTS = 20;

/** struct sockaddr_nl of the kernel itself. */
const TO_KERNEL = Buffer.from([AF_NETLINK, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/** struct timeval: the kernel answers before it takes the next call, so 10 s mean that something is broken. */
const TIMEOUT = Buffer.from([10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const received = Buffer.alloc(1 << 18);
