import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request as send } from 'node:https';
import { type Duplex, pipeline } from 'node:stream';
import { ApiError, badRequest, internalError } from '../../api/status.ts';
import type { KeyPair } from '../auth/authority.ts';
import type { AgentRequest } from '../pods/agent-address.ts';

/** How long an agent may take to be reached. What it does then may take as long as it likes: logs are followed for days. */
const REACH_TIMEOUT = 10_000;

/** Hands requests on to the agents of nodes, in the name of the engine: who may ask was decided before. */
export class AgentRelay {
  readonly #authority: string;
  #identity: KeyPair;
  #connections: Agent;

  constructor(authority: KeyPair, identity: KeyPair) {
    this.#authority = authority.certificate;
    this.#identity = identity;
    this.#connections = new Agent({ ...this.#credentials, keepAlive: true, keepAliveMsecs: 30_000 });
  }

  /** Shows another certificate from the next connection on. */
  useIdentity(identity: KeyPair): void {
    this.#identity = identity;
    this.#connections = new Agent({ ...this.#credentials, keepAlive: true, keepAliveMsecs: 30_000 });
  }

  /** Answers with what the agent answers; its body is passed on at the pace at which it is taken. */
  async answer(target: AgentRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (target.as === 'tunnel') throw badRequest('Upgrade request required');
    const isOutput = target.as === 'output';
    const { host, port, path } = target;
    const outgoing = send({
      ...{ host, port, path, agent: this.#connections },
      method: isOutput ? 'GET' : (request.method ?? 'GET'),
      headers: isOutput ? {} : passedOn(request.headers),
    });
    // A client that goes away wants no more of it.
    response.once('close', () => outgoing.destroy());
    if (isOutput) outgoing.end();
    else pipeline(request, outgoing, () => {});
    const answer = await answerTo(outgoing, target);
    if (isOutput && (answer.statusCode ?? 500) >= 400) throw await refusal(answer);
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers));
    // What is followed may be silent for long: that it is there can be told at once.
    response.flushHeaders();
    pipeline(answer, response, () => {});
  }

  /**
   * Opens a tunnel between the client's socket and the agent, and resolves with how to end it. Only when the agent has agreed
   * to speak another protocol may bytes of the client reach it: as long as it speaks HTTP, they would be requests of any kind
   * to it, in our name. Any other answer than that is passed on, and is the end.
   */
  async tunnel(target: AgentRequest, request: IncomingMessage, client: Duplex, head: Buffer): Promise<() => void> {
    const { host, port, path } = target;
    const outgoing = send({
      ...{ host, port, path, ...this.#credentials, agent: false },
      method: request.method ?? 'GET',
      headers: { ...passedOn(request.headers), connection: 'Upgrade', upgrade: request.headers.upgrade },
    });
    const cut = () => {
      outgoing.destroy();
      client.destroy();
    };
    client.once('close', cut);
    const upgraded = new Promise<[IncomingMessage, Duplex, Buffer]>((resolve) =>
      outgoing.once('upgrade', (answer, socket, first) => resolve([answer, socket, first])),
    );
    outgoing.end();
    const answer = await Promise.race([upgraded, answerTo(outgoing, target)]);
    if (!Array.isArray(answer)) {
      client.write(headOf(answer, 'close'));
      pipeline(answer, client, () => client.destroy());
      return cut;
    }
    const [agreement, agent, first] = answer;
    client.write(Buffer.concat([headOf(agreement), first]));
    agent.write(head);
    splice(client, agent);
    return cut;
  }

  close(): void {
    this.#connections.destroy();
  }

  get #credentials() {
    const { certificate, key } = this.#identity;
    return { ca: this.#authority, cert: certificate, key, minVersion: 'TLSv1.2' as const };
  }
}

/** Joins two connections for as long as both live. Each is read only as fast as the other takes it. */
function splice(one: Duplex, other: Duplex): void {
  const endWith = (gone: Duplex, left: Duplex) => {
    gone.on('error', () => {});
    // What has been said last still gets through.
    gone.once('close', () => left.end(() => left.destroy()));
  };
  endWith(one, other);
  endWith(other, one);
  one.pipe(other);
  other.pipe(one);
}

/** The agent's answer; that it cannot be reached is said as kube-apiserver says it. */
function answerTo(outgoing: ClientRequest, { host, port }: AgentRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      reject(internalError(`error dialing backend: the agent at ${host}:${port} cannot be reached: ${why}`));
      outgoing.destroy();
    };
    const timer = setTimeout(() => fail(`no connection within ${REACH_TIMEOUT / 1000} s`), REACH_TIMEOUT);
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) clearTimeout(timer);
      socket.once('secureConnect', () => clearTimeout(timer));
    });
    outgoing.once('close', () => clearTimeout(timer));
    outgoing.on('error', ({ message }) => fail(message));
    outgoing.once('response', resolve);
  });
}

/** Enough of an agent's refusal to tell a person. */
const LONGEST_REFUSAL = 2048;

/** What the agent says instead of a container's output, as a Status. */
async function refusal(answer: IncomingMessage): Promise<ApiError> {
  let text = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer) {
    text += chunk;
    if (text.length >= LONGEST_REFUSAL) break;
  }
  const message = text.slice(0, LONGEST_REFUSAL).trim();
  const code = answer.statusCode ?? 500;
  if (code === 400) return badRequest(message);
  if (code === 404) return new ApiError(404, 'NotFound', message);
  return code === 500 ? internalError(message) : new ApiError(code, 'InternalError', message);
}

/** Headers between neighbours, and those by which clients say to us who they are: nobody else needs to know. */
const NOT_PASSED_ON =
  /^(authorization|connection|cookie|host|impersonate-.*|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

const passedOn = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.test(name)));

/** The head of an answer as it came. */
function headOf(answer: IncomingMessage, connection?: 'close'): Buffer {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    const name = answer.rawHeaders[i] ?? '';
    // The body is sent as plain bytes up to the end of the connection.
    if (connection !== undefined && /^(connection|keep-alive|transfer-encoding)$/i.test(name)) continue;
    lines.push(`${name}: ${answer.rawHeaders[i + 1]}`);
  }
  if (connection !== undefined) lines.push(`Connection: ${connection}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
