import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Address } from '../api/address.ts';
import type { IPSet, NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import type { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import type { Reservation } from '../api/network.openstack.org/reservation.ts';
import type { Holding } from '../ledger/space.ts';
import { ipSetApplicant } from './applicant.ts';
import { NAMESPACE, network, subnet } from './environment.fixture.ts';
import { Networks } from './networks.ts';
import { type Goal, plan } from './plan.ts';
import { reservationFor } from './reservation.ts';

const address = (text: string): Address => {
  const parsed = Address.parse(text);
  assert.ok(parsed, text);
  return parsed;
};
const metadata = (name: string, uid: string) => ({
  name,
  namespace: NAMESPACE,
  uid,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const apiVersion = 'network.openstack.org/v1beta1';
const netConfig: NetConfig = {
  apiVersion,
  kind: 'NetConfig',
  metadata: metadata('netconfig', 'n'),
  spec: {
    networks: [
      network({
        subnets: [
          subnet({ gateway: '172.18.0.1', excludeAddresses: ['172.18.0.99'] }),
          subnet({ name: 'subnet6', cidr: 'fd00::/64', allocationRanges: [{ start: 'fd00::1', end: 'fd00::9' }] }),
        ],
      }),
      network({ name: 'Tenant', subnets: [subnet({ cidr: '172.18.0.0/16' })] }),
    ],
  },
};
const ipSet = (...networks: NetworkRequest[]): IPSet => ({
  apiVersion,
  kind: 'IPSet',
  metadata: metadata('a', 'uid'),
  spec: { immutable: false, networks },
});
const holding = (text: string, subnetName = 'subnet1', networkName = 'Storage'): Holding => ({
  address: address(text),
  holder: { apiGroup: 'network.openstack.org', kind: 'IPSet', name: 'a', uid: 'uid' },
  network: networkName,
  subnet: subnetName,
  since: '2026-01-01T00:00:00Z',
});
const reservation = (uid: string, entries: Record<string, string>, subnetName = 'subnet1'): Reservation => ({
  apiVersion,
  kind: 'Reservation',
  metadata: metadata('a', 'r'),
  spec: {
    ipSetRef: { uid },
    reservation: Object.fromEntries(
      Object.entries(entries).map(([key, text]) => [key, { network: 'Storage', subnet: subnetName, address: text }]),
    ),
  },
});
const any: NetworkRequest = { name: 'Storage', subnetName: 'subnet1' };
const six: NetworkRequest = { name: 'storage', subnetName: 'SUBNET6' };
/** On a network that overlaps the other one. */
const tenant: NetworkRequest = { name: 'Tenant', subnetName: 'subnet1' };

const words = (goal: Goal): string => {
  if (goal.is === 'impossible') return goal.why;
  return goal.is === 'any' ? 'any' : `${goal.is} ${goal.address}`;
};
function planned(
  of: IPSet,
  {
    holdings = [],
    reserved,
    anothers = [],
    former = [],
  }: { holdings?: Holding[]; reserved?: Reservation | undefined; anothers?: string[]; former?: Holding[] } = {},
): { goals: string[]; surplus: string[]; overrules?: true } {
  const { entries, surplus, overrules } = plan({
    ...ipSetApplicant(of, reserved),
    networks: new Networks(netConfig),
    holdings,
    former,
    isAnothers: (one) => anothers.includes(`${one}`),
  });
  return {
    goals: entries.map(({ goal }) => words(goal)),
    surplus: surplus.map((one) => `${one.address}`),
    ...(overrules && { overrules }),
  };
}

describe('the plan for an IPSet', () => {
  it('is any address, or the one that it asks for', () => {
    assert.deepEqual(planned(ipSet(any)).goals, ['any']);
    assert.deepEqual(planned(ipSet({ ...any, fixedIP: '172.18.0.5' })).goals, ['fixed 172.18.0.5']);
  });

  it('is what the ledger has for it', () => {
    assert.deepEqual(planned(ipSet(any), { holdings: [holding('172.18.0.20')] }).goals, ['held 172.18.0.20']);
  });

  it('is what its Reservation promises, when the record of it is missing', () => {
    assert.deepEqual(planned(ipSet(any), { reserved: reservation('uid', { Storage: '172.18.0.20' }) }).goals, [
      'promised 172.18.0.20',
    ]);
  });

  it('is what its Reservation says when it holds two addresses after a race; the other is given back', () => {
    const holdings = [holding('172.18.0.20'), holding('172.18.0.21')];
    assert.deepEqual(planned(ipSet(any), { holdings, reserved: reservation('uid', { Storage: '172.18.0.21' }) }), {
      goals: ['held 172.18.0.21'],
      surplus: ['172.18.0.20'],
    });
  });

  it('is what it holds where its Reservation says something that it does not hold, and that where it holds nothing', () => {
    const told = { reserved: reservation('uid', { Storage: '172.18.0.21' }), anothers: ['172.18.0.21'] };
    assert.deepEqual(planned(ipSet(any), told), { goals: ['promised 172.18.0.21'], surplus: [] });
    assert.deepEqual(planned(ipSet(any), { ...told, holdings: [holding('172.18.0.20')] }), {
      goals: ['held 172.18.0.20'],
      surplus: [],
      overrules: true,
    });
    const free = { reserved: reservation('uid', { Storage: '172.18.0.21' }), holdings: [holding('172.18.0.20')] };
    assert.deepEqual(planned(ipSet(any), free), { goals: ['held 172.18.0.20'], surplus: [], overrules: true });
  });

  it('is at best a wish for what cools down after an earlier object of its name, where that is given at all', () => {
    const after = (text: string) => ({ former: [holding(text)] });
    assert.deepEqual(planned(ipSet(any), after('172.18.0.20')), { goals: ['wished 172.18.0.20'], surplus: [] });
    assert.deepEqual(planned(ipSet(any), after('172.18.0.5')).goals, ['any']);
    assert.deepEqual(planned(ipSet({ ...any, fixedIP: '172.18.0.5' }), after('172.18.0.20')).goals, [
      'fixed 172.18.0.5',
    ]);
    const holdings = [holding('172.18.0.30')];
    assert.deepEqual(planned(ipSet(any), { ...after('172.18.0.20'), holdings }).goals, ['held 172.18.0.30']);
  });

  it('is what it has, even when that is excluded, outside of every range, or not what it asks for now', () => {
    const reserved = reservation('uid', { Storage: '172.18.0.99' });
    assert.deepEqual(planned(ipSet({ ...any, fixedIP: '172.18.0.5' }), { reserved }).goals, ['promised 172.18.0.99']);
  });

  it('is at best a wish where the Reservation was for another object of its name', () => {
    const reserved = reservation('another', { Storage: '172.18.0.20' });
    assert.deepEqual(planned(ipSet(any), { reserved }).goals, ['wished 172.18.0.20']);
    assert.deepEqual(planned(ipSet({ ...any, fixedIP: '172.18.0.5' }), { reserved }).goals, ['fixed 172.18.0.5']);
    const excluded = reservation('another', { Storage: '172.18.0.99' });
    assert.deepEqual(planned(ipSet(any), { reserved: excluded }).goals, ['any']);
  });

  it('is what its status says, when neither a promise nor a record is known', () => {
    const entry = { network: 'Storage', subnet: 'subnet1', address: '172.18.0.20' };
    const told = (observedGeneration: number): IPSet => ({
      ...ipSet(any),
      metadata: { ...metadata('a', 'uid'), generation: 2 },
      status: { observedGeneration, reservations: [entry] },
    });
    assert.deepEqual(planned(told(2)).goals, ['promised 172.18.0.20']);
    // It may have stopped asking for it, and begun again.
    assert.deepEqual(planned(told(1)).goals, ['wished 172.18.0.20']);
    assert.deepEqual(planned(told(2), { holdings: [holding('172.18.0.21')] }).goals, ['held 172.18.0.21']);
    const reserved = reservation('uid', { Storage: '172.18.0.22' });
    assert.deepEqual(planned(told(2), { reserved }).goals, ['promised 172.18.0.22']);
    assert.deepEqual(planned(told(2), { reserved: reservation('another', { Storage: '172.18.0.22' }) }).goals, [
      'promised 172.18.0.20',
    ]);
  });

  it('is not the gateway because an earlier object of its name had asked for that', () => {
    assert.deepEqual(planned(ipSet(any), { reserved: reservation('another', { Storage: '172.18.0.1' }) }).goals, [
      'any',
    ]);
  });

  it('tells two families of one network apart, in whatever order they are asked for', () => {
    const holdings = [holding('172.18.0.20'), holding('fd00::5', 'subnet6')];
    assert.deepEqual(planned(ipSet(six, any), { holdings }).goals, ['held fd00::5', 'held 172.18.0.20']);
    assert.deepEqual(planned(ipSet(six, any), { holdings: [holding('172.18.0.20')] }).goals, [
      'any',
      'held 172.18.0.20',
    ]);
  });

  it('gives back what it does not ask for, but nothing of a network that the NetConfig does not have now', () => {
    const holdings = [holding('172.19.0.5', 'subnet1', 'Gone'), holding('172.20.0.5', 'subnet1', 'Missing')];
    assert.deepEqual(planned(ipSet({ name: 'missing', subnetName: 'subnet1' }), { holdings }), {
      goals: ['network missing is not in NetConfig netconfig'],
      surplus: ['172.19.0.5'],
    });
  });

  it('gives no address to two requests where networks overlap: what it has comes before what it asks for', () => {
    const fixedIP = '172.18.0.20';
    const onlyOnce =
      '172.18.0.20 is given only once, and here it is for network Storage subnet subnet1, not for network Tenant subnet subnet1 as well';
    assert.deepEqual(planned(ipSet({ ...any, fixedIP }, { ...tenant, fixedIP })).goals, [
      'fixed 172.18.0.20',
      onlyOnce,
    ]);
    assert.deepEqual(planned(ipSet({ ...tenant, fixedIP }, any), { holdings: [holding(fixedIP)] }).goals, [
      onlyOnce,
      'held 172.18.0.20',
    ]);
    const former = [holding(fixedIP)];
    assert.deepEqual(planned(ipSet(any, { ...tenant, fixedIP }), { former }).goals, ['any', 'fixed 172.18.0.20']);
  });

  it('never uses an address for two requests, nor gives back one that it uses', () => {
    const texts = fc.uniqueArray(fc.constantFrom('172.18.0.20', '172.18.0.21', 'fd00::5', 'fd00::6'), { maxLength: 4 });
    const requests = fc.shuffledSubarray([any, six], { minLength: 1 });
    const uid = fc.constantFrom('uid', 'another');
    fc.assert(
      fc.property(texts, texts, texts, requests, uid, (held, said, anothers, asked, by) => {
        const subnetOf = (text: string) => (text.includes(':') ? 'subnet6' : 'subnet1');
        const reserved = reservation(by, Object.fromEntries(said.map((text, i) => [`k${i}`, text])));
        for (const entry of Object.values(reserved.spec.reservation)) entry.subnet = subnetOf(entry.address);
        const holdings = held.map((text) => holding(text, subnetOf(text)));
        const { goals, surplus } = planned(ipSet(...asked), {
          holdings,
          reserved,
          anothers: anothers.filter((text) => !held.includes(text)),
        });
        const used = goals.flatMap((goal) => goal.split(' ').slice(1));
        assert.equal(new Set(used).size, used.length);
        assert.deepEqual(
          surplus.filter((text) => used.includes(text)),
          [],
        );
        for (const text of held) assert.ok(used.includes(text) || surplus.includes(text), `${text} is forgotten`);
      }),
    );
  });
});

describe('a Reservation', () => {
  const networks = new Networks(netConfig);
  const reserve = (subnetName: string, text: string) => {
    const found = networks.find('Storage', subnetName);
    assert.ok(typeof found !== 'string');
    return { subnet: found, address: address(text) };
  };
  const has = (...reserved: ReturnType<typeof reserve>[]) => ({ reserved, undecided: [] });

  it('has the second address of a network under a key of its own, and each keeps its key', () => {
    const first = reservationFor(ipSet(any), has(reserve('subnet1', '172.18.0.20')), undefined);
    assert.deepEqual(Object.keys(first.spec.reservation), ['Storage']);
    const before = { ...reservation('uid', {}), spec: first.spec };
    const both = [reserve('subnet6', 'fd00::5'), reserve('subnet1', '172.18.0.20')];
    const { spec } = reservationFor(ipSet(six, any), has(...both), before);
    assert.deepEqual(
      Object.entries(spec.reservation)
        .map(([key, entry]) => `${key} ${entry.address}`)
        .sort(),
      ['Storage 172.18.0.20', 'Storage.subnet6 fd00::5'],
    );
  });

  it('keeps what it says of an address of which nobody knows now, also beside another one of that network', () => {
    const first = reservationFor(
      ipSet(six, any),
      has(reserve('subnet1', '172.18.0.20'), reserve('subnet6', 'fd00::5')),
      undefined,
    );
    const before = { ...reservation('uid', {}), spec: first.spec };
    const decided = { ...has(reserve('subnet1', '172.18.0.20')), undecided: [six] };
    const { spec } = reservationFor(ipSet(six, any), decided, before);
    assert.deepEqual(spec.reservation, before.spec.reservation);
  });

  it('keeps the labels that others gave it', () => {
    const before = reservation('uid', {});
    before.metadata.labels = { team: 'blue', 'ipam.network.openstack.org/Storage': 'mine' };
    const { metadata } = reservationFor(ipSet(any), has(reserve('subnet1', '172.18.0.20')), before);
    assert.deepEqual(metadata.labels, { team: 'blue', 'ipam.network.openstack.org/Storage': 'mine' });
  });

  it('keeps what it says of a network that the NetConfig does not have now', () => {
    const before = reservation('uid', { Storage: '172.18.0.20' });
    const { spec } = reservationFor(ipSet(any), has(), before);
    assert.deepEqual(spec.reservation, before.spec.reservation);
  });
});
