import type { world } from '../../../test/simulation/world.ts';
import { Informers } from '../../runtime/informers.ts';
import { type Nft, ServiceProxy } from './service-proxy.ts';

/** A proxy on simulated time, for a kernel that `nft` plays. */
export function simulatedProxy({ client, clock, log }: ReturnType<typeof world>, nft: Nft) {
  const troubles: (string | undefined)[] = [];
  const informers = new Informers({ client, system: clock, log });
  const proxy = new ServiceProxy({
    ...{ informers, system: clock, log, node: 'here', nft },
    host: { addresses: {}, serviceCidrs: ['10.96.0.0/16'], podCidrs: ['10.244.0.0/16'], podLinks: 244 },
    trouble: (message) => troubles.push(message),
  });
  void proxy.start();
  const stop = async (): Promise<void> => {
    await clock.run(proxy.stop());
    await clock.run(informers.stop());
  };
  /** What it said was wrong, the newest last; undefined: nothing any more. */
  return { troubles, stop };
}
