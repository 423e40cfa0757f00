import type { Way } from '../../agent/identity-files.ts';
import { POD_CIDRS, SERVICE_CIDRS, Service } from '../../api/core/service.ts';
import { Client } from '../../runtime/client.ts';
import type { System } from '../../runtime/clock.ts';
import { HttpTransport } from '../../runtime/http-transport.ts';
import { type Connection, readKubeconfig } from '../../runtime/kubeconfig.ts';
import type { LabPlan } from '../plan/lab-plan.ts';
import type { LabApi } from '../state/record.ts';

/** The API that a lab's hosts are nodes of, as whoever works on the lab. */
export class LabClient {
  readonly client: Client;
  readonly connection: Connection;
  readonly api: LabApi;
  readonly #transport: HttpTransport;

  private constructor(api: LabApi, connection: Connection, system: System) {
    // An API that does not answer must not keep a lab from being taken down.
    const limits = { connect: 3_000, answer: 15_000, putOff: 5 };
    this.#transport = new HttpTransport({ connection, system, userAgent: 'netloom-lab', limits });
    this.client = new Client({ transport: this.#transport, fieldManager: 'netloom-lab' });
    this.connection = connection;
    this.api = api;
  }

  static async open(kubeconfig: string, system: System): Promise<LabClient> {
    const connection = await readKubeconfig(kubeconfig);
    return new LabClient({ kubeconfig, server: connection.server }, connection, system);
  }

  /** What agents have to know of it. */
  async described(): Promise<LabApi> {
    const service = await this.client.get(Service, 'kubernetes', 'default');
    const { [SERVICE_CIDRS]: serviceCidrs, [POD_CIDRS]: podCidrs } = service?.metadata.annotations ?? {};
    return {
      ...this.api,
      ...(serviceCidrs === undefined ? {} : { serviceCidrs }),
      ...(podCidrs === undefined ? {} : { podCidrs }),
    };
  }

  close(): void {
    this.#transport.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** How hosts reach the API: over the management network, where the keeper hands everything on to the server. */
export function wayFrom({ management }: LabPlan, { server, serverName, ca, insecure }: Connection): Way {
  const { protocol, hostname } = new URL(server);
  const [address = ''] = management.address.split('/', 1);
  // The certificate is not for this address. By its own address a server cannot be asked for by TLS; this name it has, too.
  const name = serverName ?? (/^[\d.]+$|^\[/.test(hostname) ? 'kubernetes.default.svc' : hostname);
  return {
    server: `${protocol}//${address}:${API_PORT}`,
    insecure,
    ...(protocol === 'https:' ? { serverName: name } : {}),
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Not the usual one: a server that listens on all addresses of the machine has that on the management bridge, too. */
export const API_PORT = 6444;
