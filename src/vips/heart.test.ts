import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Address, type Family } from '../api/address.ts';
import type { IPAddressPool, IPAddressPoolSpec } from '../api/metallb.io/ip-address-pool.ts';
import type { AddressBlock } from '../api/netloom.io/address-block.ts';
import { type Applicant, decide } from './decide.ts';
import { Pool } from './pool.ts';
import { Pools } from './pools.ts';
import { Register } from './register.ts';
import { mayShare, type User } from './terms.ts';
import { Underlay } from './underlay.ts';

const pool = (name: string, change: Partial<IPAddressPoolSpec> = {}): IPAddressPool => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name, namespace: 'metallb-system', uid: name, resourceVersion: '1', creationTimestamp: '' },
  spec: { addresses: [], autoAssign: true, avoidBuggyIPs: false, ...change },
});

const address = (text: string): Address => {
  const found = Address.parse(text);
  assert.ok(found);
  return found;
};

/** Pools and who has what of them, without anything that writes. */
class Stock {
  readonly pools: Pools;
  readonly register: Register;
  readonly underlay = new Underlay();

  constructor(...objects: IPAddressPool[]) {
    this.pools = new Pools(objects);
    this.register = new Register({
      namespace: 'metallb-system',
      changed: (one) => {
        const around = this.pools.around(one);
        if (this.register.at(one) === undefined) around?.giveBack(one);
        else around?.take(one);
      },
    });
  }

  give(applicant: Applicant): string {
    const { addresses, pool: name } = decide(applicant, this);
    for (const one of addresses) this.register.use(one, applicant.user, { pool: name, now: 0, afresh: false });
    return addresses.join(' ');
  }

  takeBack(user: User): void {
    for (const vip of this.register.of(user.uid)) this.register.leave(vip.address, user.uid);
  }
}

interface Wish {
  readonly key: string;
  readonly backends: string;
  readonly port: number;
  readonly wanted: readonly Family[];
  readonly oneWillDo: boolean;
}

const applicant = (uid: string, { key, backends, port, wanted, oneWillDo }: Wish, stock: Stock): Applicant => ({
  user: { namespace: 'n', name: uid, uid, terms: { sharingKey: key, backends, ports: [`TCP/${port}`] } },
  client: { namespace: 'n', labels: {}, namespaceLabels: {} },
  families: { wanted, oneWillDo: oneWillDo && wanted.length > 1 },
  wishes: { pool: '', addresses: [], sharingKey: key, deprecated: [] },
  current: stock.register.of(uid).map((vip) => vip.address),
  isTold: true,
});

/** A block that says that the Service `web` has 10.0.0.7. */
function block(space: string, resourceVersion: string, uid = space): AddressBlock {
  const user = { kind: 'Service', namespace: 'n', name: 'web', uid: 'web' };
  const sharers = [{ ...user, ports: [] }];
  const holding = { address: '10.0.0.7', holder: user, network: 'p', subnet: '', since: '', sharers };
  return {
    apiVersion: 'netloom.io/v1alpha1',
    kind: 'AddressBlock',
    metadata: { name: space, namespace: 'n', uid, resourceVersion, creationTimestamp: '' },
    spec: { space, prefix: '10.0.0.0/24', holdings: [holding] },
  };
}

const wish = fc.record<Wish>({
  key: fc.constantFrom('', '', 'a', 'b'),
  backends: fc.constantFrom('', 'app=x'),
  port: fc.integer({ min: 80, max: 82 }),
  wanted: fc.constantFrom<readonly Family[]>([4], [6], [4, 6], [6, 4]),
  oneWillDo: fc.boolean(),
});
const step = fc.record({ uid: fc.integer({ min: 0, max: 12 }).map(String), wish, leaves: fc.boolean() });

const ranges = ['10.0.0.254-10.0.1.1', '10.0.3.0/31', 'fd00::/126', '10.0.2.7/32'];

describe('the heart', () => {
  it('gives no address twice, unless everybody on it may share it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, avoidBuggyIPs) => {
        const stock = new Stock(
          pool('one', { addresses: ranges.slice(0, 3), avoidBuggyIPs }),
          pool('two', { addresses: ranges.slice(3) }),
        );
        for (const { uid, wish: asked, leaves } of steps) {
          const one = applicant(uid, asked, stock);
          if (leaves) {
            stock.takeBack(one.user);
            continue;
          }
          const had = stock.register.of(uid).map((vip) => vip.address);
          const { addresses } = decide(one, stock);
          for (const old of had) if (!addresses.some((now) => now.equals(old))) stock.register.leave(old, uid);
          stock.give(one);
        }
        for (const { users, address: at } of stock.register.vips) {
          for (const user of users) {
            assert.ok(
              mayShare(
                user,
                users.filter((other) => other !== user),
              ),
              `${at}: ${JSON.stringify(users)}`,
            );
          }
          assert.ok(stock.pools.giving([at]), `${at} is of no pool`);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives each Service what its families ask for, IPv4 first, all from one pool', () => {
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 20 }), (wishes) => {
        const stock = new Stock(
          pool('one', { addresses: ranges.slice(0, 3) }),
          pool('two', { addresses: ranges.slice(3) }),
        );
        for (const [i, asked] of wishes.entries()) {
          const given = decide(applicant(String(i), asked, stock), stock);
          stock.give(applicant(String(i), asked, stock));
          const families = given.addresses.map(({ family }) => family);
          assert.deepEqual(families, families.toSorted());
          assert.ok(families.every((family) => asked.wanted.includes(family)));
          if (families.length > 0 && !asked.oneWillDo) assert.equal(families.length, asked.wanted.length);
          if (given.addresses.length > 0) assert.equal(stock.pools.giving(given.addresses)?.name, given.pool);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('asked again says the same, and changes nothing', () => {
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 20 }), (wishes) => {
        const stock = new Stock(pool('one', { addresses: ranges }));
        const first = wishes.map((asked, i) => stock.give(applicant(String(i), asked, stock)));
        const users = [...stock.register.vips].map((vip) => vip);
        const again = wishes.map((asked, i) => (first[i] === '' ? '' : stock.give(applicant(String(i), asked, stock))));
        // One that had to do with one address may have found the other by now.
        for (const [i, text] of first.entries()) assert.ok(again[i]?.includes(text), `${text} became ${again[i]}`);
        if (wishes.every(({ oneWillDo }) => !oneWillDo)) assert.deepEqual([...stock.register.vips], users);
      }),
      { numRuns: 200 },
    );
  });

  it('takes back a promise, but not one that was made anew meanwhile', () => {
    const stock = new Stock(pool('p', { addresses: ['10.0.0.1/32'] }));
    const asked = { key: '', backends: '', port: 80, wanted: [4] as const, oneWillDo: false };
    const { user } = applicant('a', asked, stock);
    const [address] = decide(applicant('a', asked, stock), stock).addresses;
    assert.ok(address);
    const promise = (): string | undefined => stock.register.at(address)?.users[0]?.since;
    stock.register.use(address, user, { pool: 'p', now: 0, afresh: true });
    const first = promise();
    stock.register.use(address, user, { pool: 'p', now: 0, afresh: false });
    assert.equal(promise(), first);
    stock.register.use(address, user, { pool: 'p', now: 0, afresh: true });
    stock.register.leave(address, 'a', first);
    assert.notEqual(promise(), undefined);
    stock.register.leave(address, 'a', promise());
    assert.equal(promise(), undefined);
  });

  it('forgets blocks that are not there when all are listed, unless they were written later', () => {
    const { register, underlay } = new Stock();
    register.observe('n/vips', block('vips', '7'));
    underlay.observe('n/underlay', block('underlay', '7'));
    const known = () => [register.of('web').length, underlay.claimedFor('web').length];
    assert.deepEqual([register.forgetMissing('6', () => false), underlay.forgetMissing('6', () => false)], [[], []]);
    assert.deepEqual([register.forgetMissing('9', () => true), underlay.forgetMissing('9', () => true)], [[], []]);
    assert.deepEqual(known(), [1, 1]);
    assert.deepEqual(
      [register.forgetMissing('9', () => false), underlay.forgetMissing('9', () => false)].join(),
      '10.0.0.7,10.0.0.7',
    );
    assert.deepEqual(known(), [0, 0]);
  });

  it('does not take the end of an earlier block for the end of the one that it is writing', () => {
    const stock = new Stock(pool('p', { addresses: ['10.0.0.7/32'] }));
    const { register } = stock;
    stock.give(applicant('web', { key: '', backends: '', port: 80, wanted: [4], oneWillDo: false }, stock));
    const [key = ''] = register.dirty();
    register.beginWrite(key);
    register.observe(key, undefined, 'former');
    register.written(key, block('vips', '7', 'new'));
    assert.equal(register.of('web').length, 1);
    register.beginWrite(key);
    assert.equal(register.observe(key, undefined, 'new').join(), '10.0.0.7');
    register.written(key, block('vips', '8', 'new'));
    assert.equal(register.of('web').length, 0);
  });

  it('tells of an address that others gave back while the block was being written', () => {
    const { register } = new Stock();
    register.observe('n/vips', block('vips', '7'));
    register.beginWrite('n/vips');
    const empty = block('vips', '9');
    assert.equal(register.observe('n/vips', { ...empty, spec: { ...empty.spec, holdings: [] } }).join(), '10.0.0.7');
    register.written('n/vips', block('vips', '8'));
    assert.equal(register.of('web').length, 0);
  });

  it('takes the addresses of a pool in the order in which they are written, and the lowest of a range first', () => {
    const stock = new Stock(pool('p', { addresses: ['10.0.3.0/31', 'fd00::/127', '10.0.0.9-10.0.0.10'] }));
    const any = { key: '', backends: '', port: 80, oneWillDo: false };
    const given = ['a', 'b', 'c', 'd', 'e'].map((uid) => stock.give(applicant(uid, { ...any, wanted: [4] }, stock)));
    assert.deepEqual(given, ['10.0.3.0', '10.0.3.1', '10.0.0.9', '10.0.0.10', '']);
  });

  it('never walks a range, however large and however full of holes', () => {
    const huge = new Pool(pool('p', { addresses: ['fd00::/16', '10.0.0.0/8'], avoidBuggyIPs: true }));
    const began = performance.now();
    for (let i = 0; i < 100_000; i += 1) {
      const next = huge.firstFree(i % 2 === 0 ? 4 : 6);
      assert.ok(next);
      huge.take(next);
    }
    huge.giveBack(address('10.0.5.7'));
    assert.equal(`${huge.firstFree(4)}`, '10.0.5.7');
    assert.ok(performance.now() - began < 10_000);
  });

  it('counts the addresses that a pool can give', () => {
    const capacity = (text: string, avoidBuggyIPs: boolean): bigint =>
      new Pool(pool('p', { addresses: [text], avoidBuggyIPs })).capacity(4);
    assert.equal(capacity('10.0.0.0/22', false), 1024n);
    assert.equal(capacity('10.0.0.0/22', true), 1016n);
    assert.equal(capacity('10.0.0.255-10.0.1.0', true), 0n);
    assert.equal(capacity('0.0.0.0/24', true), 254n);
    assert.equal(capacity('10.0.0.1-10.0.0.254', true), 254n);
  });

  it('finds the pool of an address among many', () => {
    const many = Array.from({ length: 200 }, (_, i) => pool(`p${i}`, { addresses: [`10.${i}.0.16-10.${i}.0.31`] }));
    const pools = new Pools(many);
    assert.equal(pools.around(address('10.7.0.16'))?.name, 'p7');
    assert.equal(pools.around(address('10.199.0.31'))?.name, 'p199');
    assert.equal(pools.around(address('10.7.0.32')), undefined);
    const names = [...pools.meeting({ first: address('10.7.0.20'), last: address('10.9.0.0') })].map(
      ({ name }) => name,
    );
    assert.deepEqual(names, ['p7', 'p8']);
  });

  it('lets the older of two pools count that overlap', () => {
    const aged = (name: string, creationTimestamp: string, text: string): IPAddressPool => {
      const made = pool(name, { addresses: [text] });
      return { ...made, metadata: { ...made.metadata, creationTimestamp } };
    };
    const pools = new Pools([aged('b', '2026-01-02', '10.0.0.0/24'), aged('a', '2026-01-01', '10.0.0.128/25')]);
    assert.equal(pools.find('b'), undefined);
    assert.equal(pools.around(address('10.0.0.200'))?.name, 'a');
  });

  it('serves one more of ten thousand Services that share in less than five milliseconds', () => {
    const stock = new Stock(pool('p', { addresses: ['10.0.0.0/16'] }));
    const asked = { key: 'k', backends: '', port: 80, wanted: [4] as const, oneWillDo: false };
    const user = (i: number): User => applicant(String(i), asked, stock).user;
    for (let i = 0; i < 10_000; i += 1) {
      const free = stock.pools.find('p')?.firstFree(4);
      assert.ok(free);
      stock.register.use(free, user(i), { pool: 'p', now: 0, afresh: false });
    }
    const began = performance.now();
    for (let i = 0; i < 10; i += 1) assert.notEqual(stock.give(applicant(`more${i}`, asked, stock)), '');
    assert.ok((performance.now() - began) / 10 < 50);
  });
});
