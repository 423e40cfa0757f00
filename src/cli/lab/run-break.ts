import { cut, heal, healAll, killHost, killProcess } from '../../lab/works/break-and-heal.ts';
import { system } from '../../runtime/system.ts';
import { type Terminal, UsageError } from '../command.ts';
import { explained, isLab, requireRoot, theHost, theLab } from './the-lab.ts';

export async function labCut(which: string, link: string | undefined, terminal: Terminal): Promise<void> {
  requireRoot('cut');
  const { lab, host } = theHost(which);
  await explained(() => cut({ lab: lab.plan.name, host: host.name, link }, system));
  terminal.print(`${host.name}: ${link ?? 'every link'} is cut`);
}

export async function labHeal(place: string | undefined, link: string | undefined, terminal: Terminal): Promise<void> {
  requireRoot('heal');
  if (place === undefined || (link === undefined && isLab(place))) {
    const { name } = theLab(place).plan;
    await explained(() => healAll(name, system));
    terminal.print(`the lab ${name} is whole`);
    return;
  }
  const { lab, host } = theHost(place);
  await explained(() => heal({ lab: lab.plan.name, host: host.name, link }, system));
  terminal.print(link === undefined ? `${host.name} is whole` : `${host.name}: ${link} is whole`);
}

export async function labKill(which: string, what: string | undefined, terminal: Terminal): Promise<void> {
  requireRoot('kill');
  const { lab, host } = theHost(which);
  const target = { lab: lab.plan.name, host: host.name };
  if (what === undefined) {
    await explained(() => killHost(target, system));
    terminal.print(`${host.name} is dead`);
    return;
  }
  if (what !== 'agent' && what !== 'supervisor') {
    throw new UsageError(`"${what}" cannot be killed: say agent or supervisor, or nothing for the whole host`);
  }
  const pid = await explained(async () => killProcess(target, what));
  terminal.print(`${host.name}: its ${what}, process ${pid}, is dead`);
}
