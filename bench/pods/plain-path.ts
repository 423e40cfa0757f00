import { randomBytes } from 'node:crypto';
import { mayLeave } from '../shared/leftovers.ts';
import { run } from './bench-lab.ts';
import { serve } from './traffic.ts';

/**
 * Two pods, two hosts and a switch between them, made with ip(8) and with nothing but links and routes:
 * client ─ host ─ switch ─ host ─ server.
 */
export class PlainPath implements AsyncDisposable {
  readonly client: string;
  /** The address of the server. */
  readonly server = '198.18.2.2';
  readonly #namespaces: readonly string[];
  readonly #isGone: () => void;
  #serving: AsyncDisposable | undefined;

  private constructor(namespaces: readonly string[]) {
    this.#namespaces = namespaces;
    this.client = namespaces[0] ?? '';
    this.#isGone = mayLeave(() => this[Symbol.asyncDispose]());
  }

  static async make(): Promise<PlainPath> {
    const id = randomBytes(3).toString('hex');
    const names = ['client', 'host1', 'switch', 'host2', 'server'].map((name) => `netloom-bench-${id}-${name}`);
    const made = new PlainPath(names);
    try {
      for (const name of names) await run('ip', ['netns', 'add', name]);
      await run('ip', ['-batch', '-'], { input: links(names) });
      for (const [i, input] of addressesAndRoutes.entries()) {
        await run('ip', ['-n', names[i] ?? '', '-batch', '-'], { input });
      }
      for (const host of [names[1], names[3]]) {
        await run('nsenter', [`--net=/run/netns/${host}`, 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
      }
      made.#serving = serve(names[4] ?? '');
      return made;
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#serving?.[Symbol.asyncDispose]();
    for (const name of this.#namespaces) await run('ip', ['netns', 'delete', name]).catch(() => {});
    this.#isGone();
  }
}

function links([client, host1, middle, host2, server]: readonly string[]): string {
  return `
link add eth0 netns ${client} type veth peer name pod netns ${host1}
link add eth0 netns ${host1} type veth peer name port1 netns ${middle}
link add eth0 netns ${host2} type veth peer name port2 netns ${middle}
link add eth0 netns ${server} type veth peer name pod netns ${host2}
`;
}

/** In the order of the namespaces. */
const addressesAndRoutes = [
  'addr add 198.18.1.2/24 dev eth0\nlink set eth0 up\nroute add default via 198.18.1.1',
  'addr add 198.18.1.1/24 dev pod\naddr add 198.18.0.1/24 dev eth0\nlink set pod up\nlink set eth0 up\nroute add 198.18.2.0/24 via 198.18.0.2',
  'link add bridge type bridge\nlink set port1 master bridge up\nlink set port2 master bridge up\nlink set bridge up',
  'addr add 198.18.2.1/24 dev pod\naddr add 198.18.0.2/24 dev eth0\nlink set pod up\nlink set eth0 up\nroute add 198.18.1.0/24 via 198.18.0.1',
  'addr add 198.18.2.2/24 dev eth0\nlink set eth0 up\nroute add default via 198.18.2.1',
];
