import { bootstrapBindings, bootstrapRoles } from '../src/engine/auth/rbac/bootstrap-roles.ts';
import type { GeneratedFolder } from './generated.ts';
import { manifest } from './generated-manifest.ts';

const SOURCE = 'src/engine/auth/rbac';
const GROUP = 'rbac.authorization.k8s.io';
/** Of what the embedded engine grants from the start, a cluster has what Kubernetes does and lacks what is ours. */
const OURS = /^netloom:/;
/** Who may enrol a host is for a cluster to decide; here it is whoever has the rights of an administrator. */
const FOR_BOOTSTRAPPERS = 'system:bootstrappers';

/** The roles that agents and people need on a Kubernetes cluster. */
export const roles: GeneratedFolder = {
  folder: 'deploy/roles',
  files: () =>
    new Map([
      ...bootstrapRoles
        .filter(({ name }) => OURS.test(name))
        .map(({ name, labels, rules }): [string, string] => [
          fileOf('clusterrole', name),
          manifest(SOURCE, {
            apiVersion: `${GROUP}/v1`,
            kind: 'ClusterRole',
            metadata: { name, ...(labels === undefined ? {} : { labels }) },
            rules,
          }),
        ]),
      ...bootstrapBindings
        .filter(({ name, groups }) => OURS.test(name) && !groups.includes(FOR_BOOTSTRAPPERS))
        .map(({ name, role, groups }): [string, string] => [
          fileOf('clusterrolebinding', name),
          manifest(SOURCE, {
            apiVersion: `${GROUP}/v1`,
            kind: 'ClusterRoleBinding',
            metadata: { name },
            roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
            subjects: groups.map((group) => ({ kind: 'Group', apiGroup: GROUP, name: group })),
          }),
        ]),
    ]),
};

const fileOf = (kind: string, name: string): string => `${name.replace(':', '-')}.${kind}.yaml`;
