import { takeDown } from '../../lab/works/take-down.ts';
import { system } from '../../runtime/system.ts';
import type { Terminal } from '../command.ts';
import { explained, requireRoot, theLab } from './the-lab.ts';

export async function labDown(
  which: string | undefined,
  { force }: { readonly force: boolean },
  terminal: Terminal,
): Promise<void> {
  requireRoot('down');
  const { plan } = theLab(which);
  await explained(() => takeDown(plan.name, { force, say: (sentence) => terminal.warn(sentence), system }));
  terminal.print(`the lab ${plan.name} is down`);
}
