import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Endpoint, EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import type { Group } from './groups.ts';
import { planSlices, type SlicePlan } from './slice-plan.ts';

const PORTS = [{ name: '', protocol: 'TCP' as const, port: 8080 }];

const endpoint = (i: number, ready = true): Endpoint => ({
  addresses: [`10.244.${i >> 8}.${i & 255}`],
  conditions: { ready },
  targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `uid-${i}` },
});
const group = (endpoints: readonly Endpoint[], port = 8080): Group => ({
  family: 'IPv4',
  ports: endpoints.length === 0 ? [] : [{ name: '', protocol: 'TCP', port }],
  endpoints,
});
const range = (from: number, to: number): Endpoint[] => Array.from({ length: to - from }, (_, i) => endpoint(from + i));

/** Slices as a server keeps them. */
class Slices {
  list: EndpointSlice[] = [];
  #count = 0;

  become(...groups: Group[]): SlicePlan {
    const plan = planSlices(this.list, groups);
    const changed = new Map(plan.update.map((update) => [update.slice, update]));
    this.list = this.list
      .filter((slice) => !plan.remove.includes(slice))
      .map((slice) => {
        const { ports, endpoints } = changed.get(slice) ?? slice;
        return { ...slice, ports: [...(ports ?? [])], endpoints: [...endpoints] };
      });
    for (const { family, ports, endpoints } of plan.create) {
      this.#count += 1;
      const metadata = { name: `s-${this.#count}`, uid: '', resourceVersion: '', creationTimestamp: '' };
      const kind = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
      this.list.push({ ...kind, metadata, addressType: family, ports: [...ports], endpoints: [...endpoints] });
    }
    return plan;
  }
}

describe('endpoints in slices', () => {
  it('are at most a hundred in one, and a change of one of a thousand rewrites one slice', () => {
    const slices = new Slices();
    slices.become(group(range(0, 1000)));
    assert.deepEqual(
      slices.list.map(({ endpoints }) => endpoints.length),
      Array(10).fill(100),
    );
    const changed = range(0, 1000).map((each, i) => (i === 512 ? endpoint(512, false) : each));
    const { create, update, remove } = slices.become(group(changed));
    assert.deepEqual([create.length, update.length, remove.length], [0, 1, 0]);
    const again = slices.become(group(changed));
    assert.deepEqual(again, { create: [], update: [], remove: [] });
  });

  it('take the place of those that go', () => {
    const slices = new Slices();
    slices.become(group(range(0, 250)));
    const { create, update, remove } = slices.become(group([...range(0, 100), ...range(101, 251)]));
    assert.deepEqual([create.length, update.length, remove.length], [0, 1, 0]);
  });

  it('say that there are none in one empty slice, which the first one moves into', () => {
    const slices = new Slices();
    slices.become(group([]));
    assert.deepEqual(
      slices.list.map(({ endpoints }) => endpoints.length),
      [0],
    );
    const plan = slices.become(group([endpoint(1)]));
    assert.deepEqual([plan.create.length, plan.update.length, plan.remove.length], [0, 1, 0]);
    assert.deepEqual(slices.list[0]?.ports, PORTS);
  });

  it('of other ports are in other slices', () => {
    const slices = new Slices();
    slices.become(group(range(0, 3)), group(range(3, 5), 9090));
    assert.deepEqual(
      slices.list.map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints.length]),
      [
        [8080, 3],
        [9090, 2],
      ],
    );
  });

  it('are told completely and once, however they come and go', () => {
    const sets = fc.array(fc.uniqueArray(fc.nat({ max: 450 }), { maxLength: 450 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sets, (steps) => {
        const slices = new Slices();
        for (const step of steps) {
          slices.become(group(step.map((i) => endpoint(i))));
          const told = slices.list.flatMap(({ endpoints }) => endpoints.map(({ targetRef }) => targetRef?.uid ?? ''));
          assert.deepEqual(told.sort(), step.map((i) => `uid-${i}`).sort());
          assert.ok(slices.list.every(({ endpoints }) => endpoints.length <= 100));
          assert.ok(slices.list.length >= 1);
        }
      }),
      { numRuns: 60 },
    );
  });
});
