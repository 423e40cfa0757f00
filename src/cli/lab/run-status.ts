import type { Terminal } from '../command.ts';
import { statusOf } from './lab-status.ts';
import { shown } from './status-text.ts';
import { requireRoot, theLab } from './the-lab.ts';

export async function labStatus(
  which: string | undefined,
  { output }: { readonly output: 'json' | undefined },
  terminal: Terminal,
): Promise<void> {
  requireRoot('status');
  terminal.print(shown(await statusOf(theLab(which)), output));
}
