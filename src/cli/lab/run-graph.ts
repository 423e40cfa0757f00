import { readFaults } from '../../lab/state/record.ts';
import type { Terminal } from '../command.ts';
import { dotOf, graphOf, treeOf } from './graph.ts';
import { requireRoot, theLab } from './the-lab.ts';

export async function labGraph(
  which: string | undefined,
  { output }: { readonly output: 'dot' | 'json' | undefined },
  terminal: Terminal,
): Promise<void> {
  requireRoot('graph');
  const { plan } = theLab(which);
  const graph = graphOf(plan, readFaults(plan.name));
  if (output === 'json') terminal.print(JSON.stringify(graph, undefined, 2));
  else terminal.print(output === 'dot' ? dotOf(graph) : treeOf(graph));
}
