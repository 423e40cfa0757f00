import { MANAGEMENT_LINK } from './document/names.ts';
import type { LabPlan, PlannedHost, PlannedLink } from './plan/lab-plan.ts';

/** What somebody has broken on purpose, and not yet healed. */
export interface LabFaults {
  /** Links without a carrier. */
  readonly cut: readonly LinkName[];
  /** Hosts that are switched off. */
  readonly dead: readonly string[];
}

export interface LinkName {
  readonly host: string;
  readonly link: string;
}

export const NO_FAULTS: LabFaults = { cut: [], dead: [] };

/** A cable has two ends, and is cut whichever of them is named. */
export function isCut({ cut }: LabFaults, host: string, { name, to }: Pick<PlannedLink, 'name' | 'to'>): boolean {
  return cut.some(
    (each) =>
      (each.host === host && each.link === name) || ('host' in to && each.host === to.host && each.link === to.link),
  );
}

export const isManagementCut = ({ cut }: LabFaults, host: string): boolean =>
  cut.some((each) => each.host === host && each.link === MANAGEMENT_LINK);

/** Whether there is a carrier: nothing is cut, and at the other end of a cable somebody is alive. */
export const hasCarrier = (faults: LabFaults, host: string, link: PlannedLink): boolean =>
  !isCut(faults, host, link) && !('host' in link.to && faults.dead.includes(link.to.host));

/** @param link without it, every link of the host is meant */
export function cutLinks(faults: LabFaults, host: PlannedHost, link: string | undefined): LabFaults {
  const named = link === undefined ? linkNames(host) : [link];
  const cut = named.map((each) => ({ host: host.name, link: each }));
  return { ...faults, cut: [...without(faults.cut, cut), ...cut] };
}

/** @param link without it, the host lives and all of its links are whole */
export function healed(faults: LabFaults, host: PlannedHost, link: string | undefined): LabFaults {
  const links = host.links.filter(({ name }) => link === undefined || name === link);
  const whole = [
    ...(link === undefined ? linkNames(host) : [link]).map((each) => ({ host: host.name, link: each })),
    ...links.flatMap(({ to }) => ('host' in to ? [{ host: to.host, link: to.link }] : [])),
  ];
  return {
    cut: without(faults.cut, whole),
    dead: link === undefined ? faults.dead.filter((name) => name !== host.name) : faults.dead,
  };
}

export const killed = (faults: LabFaults, host: string): LabFaults => ({
  ...faults,
  dead: [...faults.dead.filter((name) => name !== host), host],
});

/** Those that the lab still has. */
export function remaining(faults: LabFaults, { hosts }: LabPlan): LabFaults {
  const known = (name: string) => hosts.find((host) => host.name === name);
  return {
    cut: faults.cut.filter(({ host, link }) => known(host) !== undefined && linkNames(known(host)).includes(link)),
    dead: faults.dead.filter((name) => known(name) !== undefined),
  };
}

export const linkNames = (host: PlannedHost | undefined): string[] =>
  host === undefined ? [] : [MANAGEMENT_LINK, ...host.links.map(({ name }) => name)];

const without = (all: readonly LinkName[], some: readonly LinkName[]): LinkName[] =>
  all.filter((one) => !some.some(({ host, link }) => one.host === host && one.link === link));
