import type { DNSData } from '../../api/network.openstack.org/dnsdata.ts';
import type { DNSMasq } from '../../api/network.openstack.org/dnsmasq.ts';
import { selectorValue } from '../../dns/names.ts';
import { called, type Finding, named, note, problem } from './finding.ts';

export interface DNSDataFacts {
  readonly dnsData: DNSData;
  /** Of its namespace. */
  readonly dnsMasqs: readonly DNSMasq[];
}

/** Whether anybody is asked for the names of a DNSData, which is Ready as soon as its names are ready to be served. */
export function dnsDataFindings({ dnsData, dnsMasqs }: DNSDataFacts): Finding[] {
  const about = named(dnsData);
  if (dnsData.metadata.deletionTimestamp !== undefined) return [];
  const value = selectorValue(dnsData.spec);
  const servers = dnsMasqs.filter(({ spec }) => selectorValue(spec) === value).map((each) => called(named(each)));
  if (servers.length > 0) return [note(about, `its names are served by ${servers.join(', ')}`)];
  const says = `nobody serves its names: no DNSMasq in namespace ${about.namespace} has dnsDataLabelSelectorValue "${value}"`;
  return [
    problem(about, says, {
      remedies: [`apply a DNSMasq to namespace ${about.namespace}, or give both the same dnsDataLabelSelectorValue`],
    }),
  ];
}
