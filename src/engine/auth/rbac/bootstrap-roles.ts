import { EVERYTHING } from '../access.ts';
import { ENGINE } from '../identity.ts';
import { named, on, paths, READ, READ_WRITE, WRITE } from './bootstrap-rules.ts';
import type { PolicyRule } from './policy-rule.ts';

/** A role that every cluster has: made of rules, or of the roles with a label. */
export interface BootstrapRole {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules?: readonly PolicyRule[];
  readonly aggregates?: string;
}

const PREFIX = 'rbac.authorization.k8s.io/aggregate-to-';
const aggregatedTo = (role: string) => ({ [`${PREFIX}${role}`]: 'true' });

const HEALTH = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const CSR = 'certificatesigningrequests';
const csrRole = (what: string, rule: PolicyRule): BootstrapRole => ({
  name: `system:certificates.k8s.io:${what}`,
  rules: [rule],
});
const approver = (signer: string): BootstrapRole =>
  csrRole(`${signer}-approver`, named(on('approve', 'certificates.k8s.io', 'signers'), `kubernetes.io/${signer}`));

const APPS = 'daemonsets deployments deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale';
const APPS_STATUS = 'daemonsets/status deployments/status replicasets/status statefulsets/status';
const OWN_GROUPS = ['netloom.io', 'network.openstack.org', 'topology.openstack.org', 'metallb.io'];
const ownKinds = (verbs: readonly string[]): PolicyRule => ({ verbs, apiGroups: OWN_GROUPS, resources: ['*'] });

/** What nodes do; whose objects they may do it with is decided by the node authorizer. */
export const nodeRules: readonly PolicyRule[] = [
  on('create', 'authentication.k8s.io', 'tokenreviews'),
  on('create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'),
  on(READ, '', 'services'),
  on(`create ${READ.join(' ')}`, '', 'nodes'),
  on('patch update', '', 'nodes nodes/status'),
  on('create patch update', '', 'events'),
  on(READ, '', 'pods'),
  on('create delete', '', 'pods'),
  on('patch update', '', 'pods/status'),
  on('create', '', 'pods/eviction'),
  on(READ, '', 'configmaps secrets serviceaccounts'),
  on('create', '', 'serviceaccounts/token'),
  on(`create ${READ.join(' ')}`, 'certificates.k8s.io', CSR),
  on('create delete get patch update', 'coordination.k8s.io', 'leases'),
];

/** The roles that kubectl, operators and their documentation take for granted, with the rules that they have in Kubernetes. */
export const bootstrapRoles: readonly BootstrapRole[] = [
  { name: 'cluster-admin', rules: EVERYTHING },
  {
    name: 'system:discovery',
    rules: [paths(...HEALTH, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*')],
  },
  {
    name: 'system:basic-user',
    rules: [
      on('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      on('create', 'authentication.k8s.io', 'selfsubjectreviews'),
    ],
  },
  { name: 'system:public-info-viewer', rules: [paths(...HEALTH, '/healthz/*', '/livez/*', '/readyz/*')] },
  { name: 'system:monitoring', rules: [paths('/metrics', '/healthz', '/healthz/*', '/livez', '/livez/*', '/readyz')] },

  { name: 'admin', aggregates: `${PREFIX}admin` },
  { name: 'edit', aggregates: `${PREFIX}edit`, labels: aggregatedTo('admin') },
  { name: 'view', aggregates: `${PREFIX}view`, labels: aggregatedTo('edit') },
  {
    name: 'system:aggregate-to-admin',
    labels: aggregatedTo('admin'),
    rules: [
      on('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
      on(READ_WRITE, 'rbac.authorization.k8s.io', 'rolebindings roles'),
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    labels: aggregatedTo('edit'),
    rules: [
      on(READ, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      on('impersonate', '', 'serviceaccounts'),
      on(WRITE, '', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      on('create', '', 'pods/eviction'),
      on(WRITE, '', 'configmaps events persistentvolumeclaims secrets serviceaccounts services services/proxy'),
      on('create', '', 'serviceaccounts/token'),
      on(WRITE, 'apps', APPS),
      on(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
      on(WRITE, 'batch', 'cronjobs jobs'),
      on(WRITE, 'policy', 'poddisruptionbudgets'),
      on(WRITE, 'networking.k8s.io', 'ingresses networkpolicies'),
      on(READ_WRITE, 'coordination.k8s.io', 'leases'),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    labels: aggregatedTo('view'),
    rules: [
      on(READ, '', 'configmaps endpoints persistentvolumeclaims pods serviceaccounts services services/status'),
      on(READ, '', 'bindings events limitranges namespaces/status pods/log pods/status resourcequotas namespaces'),
      on(READ, 'discovery.k8s.io', 'endpointslices'),
      on(READ, 'apps', `controllerrevisions ${APPS} ${APPS_STATUS}`),
      on(READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      on(READ, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      on(READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      on(READ, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
    ],
  },
  { name: 'netloom:view', labels: aggregatedTo('view'), rules: [ownKinds(READ)] },
  { name: 'netloom:edit', labels: aggregatedTo('edit'), rules: [ownKinds(WRITE)] },

  {
    name: 'system:auth-delegator',
    rules: [
      on('create', 'authentication.k8s.io', 'tokenreviews'),
      on('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    ],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [paths('/.well-known/openid-configuration', '/openid/v1/jwks')],
  },
  { name: 'system:node-bootstrapper', rules: [on(`create ${READ.join(' ')}`, 'certificates.k8s.io', CSR)] },
  csrRole(`${CSR}:nodeclient`, on('create', 'certificates.k8s.io', `${CSR}/nodeclient`)),
  csrRole(`${CSR}:selfnodeclient`, on('create', 'certificates.k8s.io', `${CSR}/selfnodeclient`)),
  approver('kube-apiserver-client'),
  approver('kube-apiserver-client-kubelet'),
  approver('kubelet-serving'),
  {
    name: 'system:kubelet-api-admin',
    rules: [
      on(READ, '', 'nodes'),
      on('proxy', '', 'nodes'),
      on('*', '', 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
    ],
  },
  // Bound to nobody: the node authorizer looks closer. It is written here for people to read.
  { name: 'system:node', rules: nodeRules },
  // What our agents read beyond what a kubelet does: the objects of ours that they make true, and the other hosts.
  {
    name: 'netloom:agent',
    rules: [
      ownKinds(READ),
      on(READ, '', 'nodes namespaces services endpoints'),
      on(READ, 'discovery.k8s.io', 'endpointslices'),
      on(READ, 'apiextensions.k8s.io', 'customresourcedefinitions'),
    ],
  },
  {
    name: 'extension-apiserver-authentication-reader',
    namespace: 'kube-system',
    rules: [named(on(READ, '', 'configmaps'), 'extension-apiserver-authentication')],
  },
];

export interface BootstrapBinding {
  readonly name: string;
  /** A ClusterRole. */
  readonly role: string;
  readonly groups: readonly string[];
}

const AUTHENTICATED = 'system:authenticated';
const BOOTSTRAPPERS = 'system:bootstrappers';
const NODES = 'system:nodes';

export const bootstrapBindings: readonly BootstrapBinding[] = [
  { name: 'cluster-admin', role: 'cluster-admin', groups: ['system:masters'] },
  { name: 'system:discovery', role: 'system:discovery', groups: [AUTHENTICATED] },
  { name: 'system:basic-user', role: 'system:basic-user', groups: [AUTHENTICATED] },
  {
    name: 'system:public-info-viewer',
    role: 'system:public-info-viewer',
    groups: [AUTHENTICATED, 'system:unauthenticated'],
  },
  { name: 'system:monitoring', role: 'system:monitoring', groups: ['system:monitoring'] },
  // Kubelets ask us whether we may do what we ask of them.
  { name: 'system:kubelet-api-admin', role: 'system:kubelet-api-admin', groups: [ENGINE] },
  {
    name: 'system:service-account-issuer-discovery',
    role: 'system:service-account-issuer-discovery',
    groups: ['system:serviceaccounts'],
  },
  { name: 'netloom:node-bootstrappers', role: 'system:node-bootstrapper', groups: [BOOTSTRAPPERS] },
  {
    name: 'netloom:approve-new-nodes',
    role: `system:certificates.k8s.io:${CSR}:nodeclient`,
    groups: [BOOTSTRAPPERS],
  },
  { name: 'netloom:approve-known-nodes', role: `system:certificates.k8s.io:${CSR}:selfnodeclient`, groups: [NODES] },
  { name: 'netloom:agents', role: 'netloom:agent', groups: [NODES] },
];
