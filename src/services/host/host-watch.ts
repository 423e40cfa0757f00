import { Address, type Family } from '../../api/address.ts';
import { EchoSocket } from '../../linux/echo-socket.ts';
import type { Cancel, System } from '../../runtime/clock.ts';
import { asError, type Log } from '../../runtime/log.ts';
import { HostSigns } from './host-signs.ts';

/** A question to every host that is watched, in milliseconds. */
const EVERY = 300;

export interface HostWatchOptions {
  readonly system: System;
  readonly log: Log;
  /** Where a host is reached now, the best address first. */
  readonly addressesOf: (host: string) => readonly string[];
  /** Told when a host falls silent, and when it is heard again. */
  readonly changed: (host: string) => void;
}

/**
 * Sees within about a second that a host has fallen silent, long before anybody else says so. Kernels answer each other, and
 * answers that came are counted before anything is judged: neither load there nor a pause here looks like silence. Without
 * hosts to watch nothing runs.
 */
export class HostWatch {
  readonly #options: HostWatchOptions;
  readonly #signs = new HostSigns();
  readonly #hosts = new Map<string, { asked: string | undefined }>();
  readonly #sockets = new Map<Family, EchoSocket>();
  readonly #withoutSocket = new Set<Family>();
  readonly #id: number;
  #cancel: Cancel | undefined;

  constructor(options: HostWatchOptions) {
    this.#options = options;
    this.#id = Math.floor(options.system.random() * 0x1_0000);
  }

  isSilent(host: string): boolean {
    return this.#signs.isSilent(host);
  }

  watch(host: string): void {
    if (!this.#hosts.has(host)) this.#hosts.set(host, { asked: undefined });
    this.#cancel ??= this.#options.system.timer(0, () => this.#round());
  }

  forget(host: string): void {
    this.#hosts.delete(host);
    this.#signs.forget(host);
    if (this.#hosts.size === 0) this.close();
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  #round(): void {
    const { system, log, addressesOf, changed } = this.#options;
    this.#cancel = system.timer(EVERY, () => this.#round());
    const answered = new Set([...this.#sockets.values()].flatMap((socket) => socket.answers().map(String)));
    const news: string[] = [];
    for (const [host, state] of this.#hosts) {
      if (state.asked !== undefined && this.#signs.tell(host, answered.has(state.asked))) news.push(host);
      state.asked = this.#ask(addressesOf(host));
    }
    for (const host of news) {
      if (this.#signs.isSilent(host))
        log.warn('a host is silent: Services leave it out where they have others', { host });
      else log.info('a host is heard again', { host });
      changed(host);
    }
  }

  /** @returns whom, in the form in which answers are told */
  #ask(addresses: readonly string[]): string | undefined {
    for (const text of addresses) {
      const address = Address.parse(text);
      const socket = address === undefined ? undefined : this.#socketOf(address.family);
      if (address === undefined || socket === undefined) continue;
      socket.ask(address);
      return address.toString();
    }
    return undefined;
  }

  /** Without one, hosts of the family are never judged: Services lead to them for as long as the API says so. */
  #socketOf(family: Family): EchoSocket | undefined {
    const known = this.#sockets.get(family);
    if (known !== undefined || this.#withoutSocket.has(family)) return known;
    try {
      const socket = new EchoSocket(family, this.#id);
      this.#sockets.set(family, socket);
      return socket;
    } catch (error) {
      this.#withoutSocket.add(family);
      this.#options.log.warn('other hosts cannot be looked after', { family, error: asError(error) });
      return undefined;
    }
  }
}
