/** Labels of Kubernetes' own domains that a node may give itself; all others there steer pods that are not its to have. */
const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
]);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const RESTRICTED = 'node-restriction.kubernetes.io';

export const mayLabelItself = (label: string): boolean => {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  if (isIn(domain, RESTRICTED)) return false;
  if (!isIn(domain, 'kubernetes.io') && !isIn(domain, 'k8s.io')) return true;
  return KUBELET_LABELS.has(label) || KUBELET_DOMAINS.some((each) => isIn(domain, each));
};

const isIn = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);

/** The labels that differ. */
export function changedLabels(now: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...now.keys(), ...before.keys()]);
  return [...keys].filter((key) => now.get(key) !== before.get(key)).sort();
}
