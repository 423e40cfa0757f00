import type { Pod } from '../../api/core/pod.ts';

/** A port of the node itself. */
export interface HostPort {
  readonly protocol: string;
  readonly port: number;
  /** All addresses of the node when it is 0.0.0.0. */
  readonly address: string;
}

export const NO_FREE_PORTS = "node(s) didn't have free ports for the requested pod ports";

export function hostPortsOf({ spec }: Pod): HostPort[] {
  const containers = [
    ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
    ...spec.containers,
  ];
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ containerPort, hostPort, hostIP = '', protocol = 'TCP' }) => {
      const port = hostPort ?? (spec.hostNetwork === true ? containerPort : 0);
      return port === 0 ? [] : [{ protocol, port, address: hostIP === '' ? EVERY : hostIP }];
    }),
  );
}

/** The ports of one node, with how many pods use each: two that were bound behind our back may share one. */
export class HostPorts {
  readonly #users = new Map<string, Map<string, number>>();

  take(ports: readonly HostPort[]): void {
    for (const { protocol, port, address } of ports) {
      const users = this.#users.get(`${protocol} ${port}`) ?? new Map<string, number>();
      users.set(address, (users.get(address) ?? 0) + 1);
      this.#users.set(`${protocol} ${port}`, users);
    }
  }

  giveBack(ports: readonly HostPort[]): void {
    for (const { protocol, port, address } of ports) {
      const users = this.#users.get(`${protocol} ${port}`);
      const left = (users?.get(address) ?? 0) - 1;
      if (left > 0) users?.set(address, left);
      else users?.delete(address);
      if (users?.size === 0) this.#users.delete(`${protocol} ${port}`);
    }
  }

  areFree(ports: readonly HostPort[]): boolean {
    return ports.every(({ protocol, port, address }) => {
      const users = this.#users.get(`${protocol} ${port}`);
      return users === undefined || (address !== EVERY && !users.has(EVERY) && !users.has(address));
    });
  }
}

const EVERY = '0.0.0.0';
