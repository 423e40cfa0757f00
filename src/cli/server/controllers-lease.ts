/** Of several processes with controllers the one that holds it works. */
export const LEASE = { namespace: 'kube-system', name: 'netloom-controllers' };
