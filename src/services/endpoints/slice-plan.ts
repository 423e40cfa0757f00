import type { Endpoint, EndpointPort, EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { equalJson, type Json } from '../../api/json.ts';
import { type Group, groupKey } from './groups.ts';

/** What a slice holds at most; a change of one endpoint rewrites no more than this. */
const MOST = 100;

export interface SlicePlan {
  readonly create: readonly Group[];
  readonly update: readonly SliceUpdate[];
  readonly remove: readonly EndpointSlice[];
}

export interface SliceUpdate {
  readonly slice: EndpointSlice;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/**
 * Spreads endpoints over slices and leaves alone what is right already: an endpoint stays in its slice, new ones go where
 * something changes anyway, then where they just fit, and only then into a new slice.
 */
export function planSlices(slices: readonly EndpointSlice[], groups: readonly Group[]): SlicePlan {
  const found = Map.groupBy(slices, ({ addressType, ports }) => groupKey(addressType, ports ?? []));
  const plans = groups.map((group) => {
    const key = groupKey(group.family, group.ports);
    const own = found.get(key) ?? [];
    found.delete(key);
    return planGroup(own, group);
  });
  return reuse({
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...plans.flatMap(({ remove }) => remove), ...[...found.values()].flat()],
  });
}

/** One write is better than two: a slice that is to go becomes one that is to come. */
function reuse({ create, update, remove }: SlicePlan): SlicePlan {
  const left = [...remove];
  const reused: SliceUpdate[] = [];
  const fresh = create.filter(({ family, ports, endpoints }) => {
    const at = left.findIndex(({ addressType }) => addressType === family);
    const slice = left[at];
    if (slice === undefined) return true;
    left.splice(at, 1);
    reused.push({ slice, ports, endpoints });
    return false;
  });
  return { create: fresh, update: [...update, ...reused], remove: left };
}

function planGroup(slices: readonly EndpointSlice[], group: Group): SlicePlan {
  const wanted = new Map(group.endpoints.map((endpoint) => [nameOf(endpoint), endpoint]));
  const drafts = slices.map((slice): Draft => {
    const endpoints = (slice.endpoints ?? []).flatMap((endpoint) => {
      const name = nameOf(endpoint);
      const now = wanted.get(name);
      wanted.delete(name);
      return now ?? [];
    });
    return { slice, endpoints, isChanged: !equalJson(asJson(endpoints), asJson(slice.endpoints ?? [])) };
  });
  const create = place([...wanted.values()], drafts, group);
  const empty = drafts.filter(({ endpoints }) => endpoints.length === 0);
  // One stays, or comes, to say that there are none.
  const kept = empty.length === drafts.length && create.length === 0 ? empty.shift() : undefined;
  if (drafts.length === 0 && create.length === 0) create.push(group);
  return {
    create,
    update: drafts
      .filter((draft) => draft.isChanged && (draft === kept || draft.endpoints.length > 0))
      .map(({ slice, endpoints }) => ({ slice, ports: group.ports, endpoints })),
    remove: empty.map(({ slice }) => slice),
  };
}

/** Finds room for endpoints that are in no slice; returns what needs slices of its own. */
function place(endpoints: Endpoint[], drafts: readonly Draft[], group: Group): Group[] {
  const changed = drafts.filter(({ isChanged }) => isChanged).sort(fullestFirst);
  for (const draft of changed) draft.endpoints.push(...endpoints.splice(0, roomIn(draft)));
  const create: Group[] = [];
  while (endpoints.length >= MOST) create.push({ ...group, endpoints: endpoints.splice(0, MOST) });
  if (endpoints.length === 0) return create;
  const fitting = drafts.filter((draft) => !draft.isChanged && roomIn(draft) >= endpoints.length).sort(fullestFirst)[0];
  if (fitting === undefined) return [...create, { ...group, endpoints }];
  fitting.endpoints.push(...endpoints);
  fitting.isChanged = true;
  return create;
}

interface Draft {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

const roomIn = ({ endpoints }: Draft): number => Math.max(0, MOST - endpoints.length);
const fullestFirst = (a: Draft, b: Draft): number => b.endpoints.length - a.endpoints.length;

/** An address that another pod has now is another endpoint. */
const nameOf = ({ addresses, targetRef }: Endpoint): string => `${addresses[0]} ${targetRef?.uid ?? ''}`;

const asJson = (endpoints: readonly Endpoint[]): Json => endpoints as unknown as Json;
