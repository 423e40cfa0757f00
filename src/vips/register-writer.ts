import { Address } from '../api/address.ts';
import { AddressBlock, blockPrefix } from '../api/netloom.io/address-block.ts';
import { FINALIZER } from '../ledger/block-writer.ts';
import type { Client } from '../runtime/client.ts';
import { asError } from '../runtime/log.ts';
import { refOfKey } from '../runtime/ref.ts';
import type { Register } from './register.ts';
import { VIPS } from './vip.ts';

/**
 * Writes every block that must be, each under the version that the changes are based on. Answers with the blocks that could not be
 * written, and why: what was to be changed there is forgotten, and the register knows what the server has instead.
 */
export async function writeRegister(register: Register, client: Client): Promise<ReadonlyMap<string, Error>> {
  const failures = new Map<string, Error>();
  await Promise.all(
    register.dirty().map(async (name) => {
      try {
        await writeBlock(name, register, client);
      } catch (error) {
        failures.set(name, asError(error));
        await lookAgain(name, register, client);
      }
    }),
  );
  return failures;
}

async function writeBlock(key: string, register: Register, client: Client): Promise<void> {
  const { object: known, holdings } = register.beginWrite(key);
  if (known === undefined && holdings.length === 0) return register.revert(key, undefined);
  // A block that says something must not vanish by accident: what it says would be free for others.
  const others = known?.metadata.finalizers?.filter((finalizer) => finalizer !== FINALIZER) ?? [];
  const finalizers = holdings.length > 0 ? [...others, FINALIZER] : others;
  if (known === undefined) {
    const { namespace, name } = refOfKey(key);
    const first = Address.parse(holdings[0]?.address ?? '');
    const prefix = first === undefined ? '' : blockPrefix(first).toString();
    const spec = { space: VIPS, prefix, holdings };
    register.written(key, await client.create(AddressBlock, { metadata: { namespace, name, finalizers }, spec }));
  } else {
    const spec = { ...known.spec, holdings };
    const metadata = { ...known.metadata, finalizers };
    register.written(key, await client.update(AddressBlock, { ...known, metadata, spec }));
  }
}

async function lookAgain(key: string, register: Register, client: Client): Promise<void> {
  const { namespace, name } = refOfKey(key);
  try {
    register.revert(key, await client.get(AddressBlock, name, namespace));
  } catch {
    // Whatever we write from this will be refused if it is not true any more.
    register.revert(key, register.objectOf(key));
  }
}
