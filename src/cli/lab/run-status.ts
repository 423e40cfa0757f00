import type { Terminal } from '../command.ts';
import { statusOf } from './lab-status.ts';
import { statusText } from './status-text.ts';
import { requireRoot, theLab } from './the-lab.ts';

export async function labStatus(
  which: string | undefined,
  { output }: { readonly output: 'json' | undefined },
  terminal: Terminal,
): Promise<void> {
  requireRoot('status');
  const status = await statusOf(theLab(which));
  terminal.print(output === 'json' ? JSON.stringify(status, undefined, 2) : statusText(status));
}
