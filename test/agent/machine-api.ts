import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { connectToPod } from '../../src/pods/host/kubelet-api/port-forward/pod-socket.ts';
import { Client } from '../../src/runtime/client.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { system } from '../../src/runtime/system.ts';

/** The API in a network that this process is not in: connections are led there byte by byte. */
export class MachineApi {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #transport: HttpTransport;
  readonly client: Client;

  private constructor(server: Server, transport: HttpTransport) {
    this.#server = server;
    this.#transport = transport;
    this.client = new Client({ transport, fieldManager: 'test' });
  }

  /** @param namespace the path of the network namespace */
  static async reach(namespace: string, kubeconfig: string): Promise<MachineApi> {
    const connection = await readKubeconfig(kubeconfig);
    const port = Number(new URL(connection.server).port);
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const here = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const api = new MachineApi(server, new HttpTransport({ connection: { ...connection, server: here }, system }));
    server.on('connection', (socket) => void api.#lead(socket, namespace, port));
    return api;
  }

  close(): void {
    this.#transport.close();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #lead(near: Socket, namespace: string, port: number): Promise<void> {
    this.#hold(near);
    try {
      const far = await connectToPod(namespace, port);
      this.#hold(far);
      near.pipe(far).pipe(near);
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    } catch {
      near.destroy();
    }
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
