import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** What a kernel may have been built with or without, by the option that says so. */
const OPTIONS = {
  bonding: 'BONDING',
  bridge: 'BRIDGE',
  'bridge-vlan': 'BRIDGE_VLAN_FILTERING',
  dummy: 'DUMMY',
  ipvlan: 'IPVLAN',
  macvlan: 'MACVLAN',
  netem: 'NET_SCH_NETEM',
  nftables: 'NF_TABLES',
  overlayfs: 'OVERLAY_FS',
  'tc-bpf': 'NET_CLS_BPF',
  vlan: 'VLAN_8021Q',
  vrf: 'NET_VRF',
  vxlan: 'VXLAN',
  wireguard: 'WIREGUARD',
} as const;

export type KernelFeature = keyof typeof OPTIONS;

/**
 * What this kernel can do, as its own configuration says. Nothing is tried: that would load modules, and some make interfaces as
 * soon as they are loaded. Empty where the configuration is nowhere to be read.
 */
export async function kernelFeatures(): Promise<ReadonlyMap<KernelFeature, boolean>> {
  const text = await configuration();
  return text === undefined
    ? new Map()
    : featuresIn(text, (await textIn(`/lib/modules/${release()}/modules.dep`)) !== undefined);
}

/** @param canLoad whether what was built as a module can be had */
export function featuresIn(configuration: string, canLoad: boolean): Map<KernelFeature, boolean> {
  const chosen = new Map(
    configuration.split('\n').flatMap((line): [string, string][] => {
      const [, option, value] = /^CONFIG_(\w+)=([ym])$/.exec(line) ?? [];
      return option === undefined || value === undefined ? [] : [[option, value]];
    }),
  );
  const names = Object.keys(OPTIONS) as KernelFeature[];
  return new Map(
    names.map((name) => {
      const value = chosen.get(OPTIONS[name]);
      return [name, value === 'y' || (value === 'm' && canLoad)];
    }),
  );
}

async function configuration(): Promise<string | undefined> {
  const packed = await readFile('/proc/config.gz').catch(() => undefined);
  if (packed !== undefined) return (await promisify(gunzip)(packed)).toString('latin1');
  return (await textIn(`/boot/config-${release()}`)) ?? textIn(`/lib/modules/${release()}/config`);
}

const textIn = (file: string): Promise<string | undefined> => readFile(file, 'latin1').catch(() => undefined);
