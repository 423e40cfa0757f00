import { isDeepStrictEqual } from 'node:util';
import { compareAddresses } from '../api/address.ts';
import type { Admission, AdmissionRequest, LiveReader } from '../api/admission.ts';
import { isJsonObject, type JsonObject } from '../api/json.ts';
import type { Kind } from '../api/kind.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { netConfigFaults } from '../api/network.openstack.org/netconfig.faults.ts';
import { NetConfig, type NetConfigSubnet } from '../api/network.openstack.org/netconfig.ts';
import { folded } from '../api/network.openstack.org/shapes.ts';
import type { ApiObject } from '../api/object.ts';
import { Prefix } from '../api/prefix.ts';
import { badRequest, type FieldError, forbidden, invalid } from '../api/status.ts';
import { asKind } from './admitted.ts';
import { NETCONFIG_LINE } from './request.admission.ts';

export const netConfigAdmission: Admission = {
  kind: NetConfig,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  turn: { line: NETCONFIG_LINE, alone: true },

  /** A network that has no other name for services is called by its own. */
  mutate({ object }) {
    for (const network of networksIn(object)) {
      const { name, serviceNetwork } = network;
      if (typeof name === 'string' && (serviceNetwork === undefined || serviceNetwork === '')) {
        network['serviceNetwork'] = folded(name);
      }
    }
  },

  async validate(request, live) {
    const netConfig = asKind(NetConfig, request.object);
    const old = asKind(NetConfig, request.oldObject);
    if (netConfig === undefined) return requireUnused(request, live);
    // Labels and finalizers may change even when the rules were stricter than the object from the start.
    if (netConfig.metadata.deletionTimestamp !== undefined || isDeepStrictEqual(netConfig.spec, old?.spec)) return;
    if (old === undefined) await requireOnlyOne(netConfig, live);
    const faults = netConfigFaults(netConfig.spec);
    if (old !== undefined) faults.push(...(await harmToUsers(netConfig, old, live)));
    if (faults.length > 0) throw invalid(NetConfig, netConfig.metadata.name, faults);
    return overlaps(netConfig);
  },
};

async function requireOnlyOne({ metadata: { name, namespace = '' } }: NetConfig, live: LiveReader): Promise<void> {
  const others = (await live.list(NetConfig, namespace)).filter((other) => other.metadata.name !== name);
  if (others.length === 0) return;
  const names = others.map((other) => other.metadata.name).join(', ');
  throw forbidden(
    NetConfig,
    name,
    `there is already a NetConfig in namespace ${namespace}: ${names}. One NetConfig describes all networks of a namespace; add the networks to it`,
  );
}

async function requireUnused({ namespace, name }: AdmissionRequest, live: LiveReader): Promise<undefined> {
  const users = await Promise.all(
    USERS.map(async (kind) => {
      const all: ApiObject[] = await live.list(kind, namespace);
      return {
        kind,
        names: all.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? metadata.name : [])),
      };
    }),
  );
  const names = users.flatMap((of) => of.names);
  if (names.length === 0) return;
  const counts = users.filter((of) => of.names.length > 0).map((of) => `${of.names.length} ${of.kind.kind}(s)`);
  const shown = names.slice(0, 5).join(', ');
  throw badRequest(
    `NetConfig ${name} cannot be deleted: ${counts.join(' and ')} in namespace ${namespace} have addresses from it (${shown}${names.length > 5 ? ', …' : ''}); delete them first`,
  );
}

/** Once there are users, networks and subnets may be added and widened, but what addresses were given from must stay. */
async function harmToUsers(netConfig: NetConfig, old: NetConfig, live: LiveReader): Promise<FieldError[]> {
  // Most changes do no harm, and need no look at who is there.
  if (changeFaults(netConfig, old, '').length === 0) return [];
  const present = await Promise.all(
    USERS.map(async (kind) =>
      (await live.list(kind, netConfig.metadata.namespace)).length > 0 ? `${kind.kind}s` : [],
    ),
  );
  const users = present.flat().join(' and ');
  return users === '' ? [] : changeFaults(netConfig, old, users);
}

function changeFaults({ spec }: NetConfig, old: NetConfig, users: string): FieldError[] {
  return old.spec.networks.flatMap((before, i) => {
    const path = `spec.networks[${i}]`;
    const after = spec.networks.find(({ name }) => name === before.name);
    if (after === undefined) {
      return [fault(`${path}.name`, before.name, `network ${before.name} was removed: it is in use by ${users}`)];
    }
    return before.subnets.flatMap((subnet, j) => {
      const at = `${path}.subnets[${j}]`;
      const now = after.subnets.find(({ name }) => name === subnet.name);
      if (now !== undefined) return subnetChangeFaults(now, subnet, at, users);
      return [
        fault(`${at}.name`, subnet.name, `parameter name must not change while ${users} exist, it was ${subnet.name}`),
      ];
    });
  });
}

function subnetChangeFaults(now: NetConfigSubnet, before: NetConfigSubnet, at: string, users: string): FieldError[] {
  const faults: FieldError[] = [];
  if (Prefix.parse(now.cidr)?.toString() !== Prefix.parse(before.cidr)?.toString()) {
    faults.push(
      fault(`${at}.cidr`, now.cidr, `parameter cidr must not change while ${users} exist, it was ${before.cidr}`),
    );
  }
  if (now.vlan !== before.vlan) {
    const was = before.vlan === undefined ? 'was not set' : `was ${before.vlan}`;
    faults.push(fault(`${at}.vlan`, now.vlan ?? '', `parameter vlan must not change while ${users} exist, it ${was}`));
  }
  return faults;
}

/** An address is given once, also where CIDRs overlap; but who writes this has probably made a mistake. */
function overlaps({ spec }: NetConfig): string[] {
  const prefixes = spec.networks
    .flatMap((network, i) =>
      network.subnets.map((subnet, j) => ({
        at: `spec.networks[${i}].subnets[${j}].cidr`,
        prefix: Prefix.parse(subnet.cidr),
      })),
    )
    .flatMap(({ at, prefix }) => (prefix === undefined ? [] : [{ at, prefix }]))
    .sort((a, b) => compareAddresses(a.prefix.first, b.prefix.first) || a.prefix.length - b.prefix.length);
  const warnings: string[] = [];
  let widest = prefixes[0];
  for (const one of prefixes.slice(1)) {
    if (widest?.prefix.contains(one.prefix.first) === true) {
      warnings.push(
        `${one.at}: ${one.prefix} overlaps ${widest.prefix} of ${widest.at}: an address in both is given only once`,
      );
    } else {
      widest = one;
    }
  }
  return warnings.slice(0, MOST_WARNINGS);
}

const fault = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});

/** Defaults come before the schema is checked: anything may be where networks should be. */
function networksIn(object: unknown): JsonObject[] {
  const spec = isJsonObject(object) ? object['spec'] : undefined;
  const networks = isJsonObject(spec) ? spec['networks'] : undefined;
  return Array.isArray(networks) ? networks.filter(isJsonObject) : [];
}

/** The kinds of object that have addresses from a NetConfig. */
const USERS: readonly Kind[] = [IPSet, AddressClaim];

const MOST_WARNINGS = 10;
