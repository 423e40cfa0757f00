import { Node, podRangesOf } from '../../api/core/node.ts';
import { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { Prefix } from '../../api/prefix.ts';
import { ApiError } from '../../api/status.ts';
import { type Cache, index } from '../../runtime/cache.ts';
import { isMissing } from '../../runtime/client.ts';
import { type Context, type Controller, controller } from '../../runtime/controller.ts';
import { done, type Outcome, wait } from '../../runtime/outcome.ts';
import { type Ref, refOf } from '../../runtime/ref.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { freeRanges, holderOf, isRangeLength, isRangeRecord, rangeOf, rangeRecord } from './ranges.ts';

const byHolder = index(AddressBlock, (block) => (isRangeRecord(block) ? [holderOf(block)?.uid ?? ''] : []));
const allRanges = index(AddressBlock, (block) => (isRangeRecord(block) ? ['all'] : []));
const withoutRange = index(Node, (node) => (podRangesOf(node).length === 0 ? ['all'] : []));

/**
 * Gives every node a range of addresses for its pods, one of each family that pods have, and takes it back when the node is gone. A
 * range is given by creating the record that bears its name, so that even two who give at the same time cannot give it twice; only
 * then the node is told.
 */
export const podRanges = ({ podCidrs }: { podCidrs: readonly Prefix[] }): Controller =>
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
    reconcile: (node, context) => settle(node, podCidrs, context),
    gone: async (ref, context) => {
      for (const block of context.caches.of(AddressBlock).by(allRanges, 'all')) {
        if (holderOf(block)?.name === ref.name) await release(block, context);
      }
    },
  });

async function settle(node: Node, podCidrs: readonly Prefix[], context: Context): Promise<Outcome> {
  if (node.metadata.deletionTimestamp !== undefined) return done();
  const blocks = context.caches.of(AddressBlock);
  const told = podRangesOf(node);
  for (const block of blocks.by(allRanges, 'all')) {
    const holder = holderOf(block);
    const isFormer = holder?.name === node.metadata.name && holder.uid !== node.metadata.uid;
    // A second range, taken while the record of the first one was not heard of yet.
    const isSpare = holder?.uid === node.metadata.uid && told.length > 0 && !told.includes(rangeOf(block));
    if (isFormer || isSpare) await release(block, context);
  }
  if (told.length > 0) return keepAll(node, told, blocks, context);

  const held = blocks.by(byHolder, node.metadata.uid).map(rangeOf);
  const ranges: string[] = [];
  for (const podCidr of podCidrs) {
    const range =
      held.find((text) => Prefix.parse(text)?.family === podCidr.family) ?? (await take(node, podCidr, context));
    if (range === undefined) {
      context.events.warning(node, 'CIDRNotAvailable', `No range of ${podCidr} is left for the pods of this node`);
      return wait();
    }
    ranges.push(range);
  }
  const [podCIDR] = ranges;
  if (podCIDR === undefined) return done();
  const { resourceVersion } = node.metadata;
  try {
    await context.client.patch(Node, refOf(node), {
      merge: { metadata: { resourceVersion }, spec: { podCIDR, podCIDRs: ranges } },
    });
  } catch (error) {
    // The record wakes us for a node that is gone, and then it is freed.
    if (!isMissing(error)) throw error;
  }
  return done();
}

async function keepAll(
  node: Node,
  ranges: readonly string[],
  blocks: Cache<AddressBlock>,
  context: Context,
): Promise<Outcome> {
  const kept: boolean[] = [];
  for (const range of ranges) kept.push(await keep(node, range, blocks, context));
  return kept.every(Boolean) ? done() : wait({ after: 1_000 });
}

/** Whoever chose the range of a node by hand has it on record as well, if nobody else has. False when that is to be looked at again. */
async function keep(node: Node, text: string, blocks: Cache<AddressBlock>, context: Context): Promise<boolean> {
  const range = Prefix.parse(text);
  if (range === undefined || !isRangeLength(range)) return true;
  const record = rangeRecord(node, range, timestamp(context.system.now()));
  const found = blocks.get(refOf({ metadata: { ...node.metadata, ...record.metadata } }));
  const holder = found === undefined ? undefined : holderOf(found);
  if (found === undefined) return create(record, context);
  if (holder !== undefined && holder.uid !== node.metadata.uid && holder.name !== node.metadata.name) {
    context.events.warning(node, 'CIDRConflict', `The pods of node ${holder.name} have the range ${text} as well`);
  }
  return true;
}

async function take(node: Node, podCidr: Prefix, context: Context): Promise<string | undefined> {
  const taken = new Set([
    ...context.caches.of(AddressBlock).by(allRanges, 'all').map(rangeOf),
    ...context.caches.of(Node).list().flatMap(podRangesOf),
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
  if (node !== undefined && node.metadata.uid === holder?.uid) {
    const told = podRangesOf(node);
    if (told.length === 0 || told.includes(rangeOf(block))) return;
  }
  const { uid, resourceVersion } = block.metadata;
  await client.delete(AddressBlock, refOf(block), { uid, resourceVersion });
}
