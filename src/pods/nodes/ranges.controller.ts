import { Node } from '../../api/core/node.ts';
import { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { Prefix } from '../../api/prefix.ts';
import { ApiError } from '../../api/status.ts';
import { type Cache, index } from '../../runtime/cache.ts';
import { isMissing } from '../../runtime/client.ts';
import { type Context, type Controller, controller } from '../../runtime/controller.ts';
import { done, type Outcome, wait } from '../../runtime/outcome.ts';
import { type Ref, refOf } from '../../runtime/ref.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { freeRanges, holderOf, isRangeRecord, rangeRecord } from './ranges.ts';

const byHolder = index(AddressBlock, (block) => (isRangeRecord(block) ? [holderOf(block)?.uid ?? ''] : []));
const allRanges = index(AddressBlock, (block) => (isRangeRecord(block) ? ['all'] : []));
const withoutRange = index(Node, ({ spec }) => (spec.podCIDR === undefined ? ['all'] : []));

/**
 * Gives every node a range of addresses for its pods, and takes it back when the node is gone. A range is given by creating the
 * record that bears its name, so that even two who give at the same time cannot give it twice; only then the node is told.
 */
export const podRanges = ({ podCidr }: { podCidr: Prefix }): Controller =>
  controller({
    name: 'node-ranges',
    for: Node,
    watches: [
      {
        kind: AddressBlock,
        wakes: (block, caches) => {
          if (!isRangeRecord(block)) return [];
          const holder = holderOf(block);
          const owner: Ref[] = holder === undefined ? [] : [{ namespace: '', name: holder.name }];
          // A range that is free again is for those who found none.
          const isFree = caches.of(AddressBlock).get(refOf(block)) === undefined;
          return isFree ? [...owner, ...caches.of(Node).by(withoutRange, 'all').map(refOf)] : owner;
        },
      },
    ],
    reconcile: (node, context) => settle(node, podCidr, context),
    gone: async (ref, context) => {
      for (const block of context.caches.of(AddressBlock).by(allRanges, 'all')) {
        if (holderOf(block)?.name === ref.name) await release(block, context);
      }
    },
  });

async function settle(node: Node, podCidr: Prefix, context: Context): Promise<Outcome> {
  if (node.metadata.deletionTimestamp !== undefined) return done();
  const blocks = context.caches.of(AddressBlock);
  const own = blocks.by(byHolder, node.metadata.uid);
  const { podCIDR } = node.spec;
  for (const block of blocks.by(allRanges, 'all')) {
    const holder = holderOf(block);
    const isFormer = holder?.name === node.metadata.name && holder.uid !== node.metadata.uid;
    // A second range, taken while the record of the first one was not heard of yet.
    const isSpare = holder?.uid === node.metadata.uid && podCIDR !== undefined && block.spec.prefix !== podCIDR;
    if (isFormer || isSpare) await release(block, context);
  }
  if (podCIDR !== undefined) return keep(node, podCIDR, blocks, context);

  const [held] = own;
  const range = held?.spec.prefix ?? (await take(node, podCidr, context));
  if (range === undefined) {
    context.events.warning(node, 'CIDRNotAvailable', `No range of ${podCidr} is left for the pods of this node`);
    return wait();
  }
  const { resourceVersion } = node.metadata;
  try {
    await context.client.patch(Node, refOf(node), {
      merge: { metadata: { resourceVersion }, spec: { podCIDR: range, podCIDRs: [range] } },
    });
  } catch (error) {
    // The record wakes us for a node that is gone, and then it is freed.
    if (!isMissing(error)) throw error;
  }
  return done();
}

/** Whoever chose the range of a node by hand has it on record as well, if nobody else has. */
async function keep(node: Node, podCIDR: string, blocks: Cache<AddressBlock>, context: Context): Promise<Outcome> {
  const range = Prefix.parse(podCIDR);
  if (range === undefined || ![24, 120].includes(range.length)) return done();
  const record = rangeRecord(node, range, timestamp(context.system.now()));
  const found = blocks.get(refOf({ metadata: { ...node.metadata, ...record.metadata } }));
  const holder = found === undefined ? undefined : holderOf(found);
  if (found === undefined) {
    if (!(await create(record, context))) return wait({ after: 1_000 });
  } else if (holder !== undefined && holder.uid !== node.metadata.uid && holder.name !== node.metadata.name) {
    context.events.warning(node, 'CIDRConflict', `The pods of node ${holder.name} have the range ${podCIDR} as well`);
  }
  return done();
}

async function take(node: Node, podCidr: Prefix, context: Context): Promise<string | undefined> {
  const taken = new Set([
    ...context.caches
      .of(AddressBlock)
      .by(allRanges, 'all')
      .map(({ spec }) => spec.prefix),
    ...context.caches
      .of(Node)
      .list()
      .flatMap(({ spec }) => spec.podCIDR ?? []),
  ]);
  for (const range of freeRanges(podCidr, taken)) {
    if (await create(rangeRecord(node, range, timestamp(context.system.now())), context)) return `${range}`;
  }
  return undefined;
}

/** False when somebody else has the range. */
async function create(record: ReturnType<typeof rangeRecord>, { client }: Context): Promise<boolean> {
  try {
    await client.create(AddressBlock, record);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'AlreadyExists') return false;
    throw error;
  }
}

/** Frees a range if its node, asked of the server itself, is not there any more or has another one. */
async function release(block: AddressBlock, { client }: Context): Promise<void> {
  const holder = holderOf(block);
  const node = holder === undefined ? undefined : await client.get(Node, holder.name);
  const isHeld =
    node !== undefined &&
    node.metadata.uid === holder?.uid &&
    (node.spec.podCIDR === undefined || node.spec.podCIDR === block.spec.prefix);
  if (isHeld) return;
  const { uid, resourceVersion } = block.metadata;
  await client.delete(AddressBlock, refOf(block), { uid, resourceVersion });
}
