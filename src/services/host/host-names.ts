import { PLACES } from './own-place.ts';

/**
 * How clients ask: a question that nobody takes while an agent is being replaced is asked again after a second, and answered by
 * the next one.
 */
export const PATIENCE: readonly string[] = ['timeout:1', 'attempts:5'];

/** The resolv.conf of a host whose processes know Services by their names, as its pods do. */
export const hostResolverFile = (
  domain = 'cluster.local',
): string => `# Written by netloom: the agent of this host answers.
nameserver ${PLACES.IPv4}
nameserver ${PLACES.IPv6}
search svc.${domain} ${domain}
options ${PATIENCE.join(' ')}
`;
