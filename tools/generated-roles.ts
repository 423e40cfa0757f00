import { controllersRights } from '../src/cli/server/controllers-rights.ts';
import { bootstrapBindings, bootstrapRoles } from '../src/engine/auth/rbac/bootstrap-roles.ts';
import type { GeneratedFolder } from './generated.ts';
import { manifest } from './generated-manifest.ts';
import { rulesOfRights } from './rules-of-rights.ts';

const SOURCE = 'src/engine/auth/rbac';
const GROUP = 'rbac.authorization.k8s.io';
/** Of what the embedded engine grants from the start, a cluster has what Kubernetes does and lacks what is ours. */
const OURS = /^netloom:/;
/** Who may enrol a host is for a cluster to decide; here it is whoever has the rights of an administrator. */
const FOR_BOOTSTRAPPERS = 'system:bootstrappers';

/** The roles that agents, people and controllers need on a Kubernetes cluster. */
export const roles: GeneratedFolder = {
  folder: 'deploy/roles',
  files: () => new Map([...ofAgentsAndPeople(), ...ofControllers()]),
};

function* ofAgentsAndPeople(): Generator<[file: string, content: string]> {
  for (const { name, labels, rules } of bootstrapRoles) {
    if (!OURS.test(name)) continue;
    const metadata = { name, ...(labels === undefined ? {} : { labels }) };
    yield [fileOf('clusterrole', name), manifest(SOURCE, { ...typed('ClusterRole'), metadata, rules })];
  }
  for (const { name, role, groups } of bootstrapBindings) {
    if (!OURS.test(name) || groups.includes(FOR_BOOTSTRAPPERS)) continue;
    const subjects = groups.map((group) => ({ kind: 'Group', apiGroup: GROUP, name: group }));
    const binding = {
      ...typed('ClusterRoleBinding'),
      metadata: { name },
      roleRef: refTo('ClusterRole', role),
      subjects,
    };
    yield [fileOf('clusterrolebinding', name), manifest(SOURCE, binding)];
  }
}

const CONTROLLERS = 'netloom-controllers';
const HOME = 'netloom-system';

/** Who runs `netloom controllers`. What is needed in one namespace alone is granted there alone. */
function* ofControllers(): Generator<[file: string, content: string]> {
  const source = 'the rights.ts of each capability';
  const namespaces = new Set(controllersRights.map(({ namespace }) => namespace));
  const subjects = [{ kind: 'ServiceAccount', name: CONTROLLERS, namespace: HOME }];
  for (const namespace of namespaces) {
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const metadata = { name: CONTROLLERS, ...(namespace === undefined ? {} : { namespace }) };
    const rules = rulesOfRights(controllersRights.filter((right) => right.namespace === namespace));
    const file = namespace === undefined ? CONTROLLERS : `${CONTROLLERS}-in-${namespace}`;
    yield [fileOf(kind.toLowerCase(), file), manifest(source, { ...typed(kind), metadata, rules })];
    const binding = { ...typed(`${kind}Binding`), metadata, roleRef: refTo(kind, CONTROLLERS), subjects };
    yield [fileOf(`${kind}Binding`.toLowerCase(), file), manifest(source, binding)];
  }
  // In one file: kubectl takes files in the order of their names, and there is no account without its namespace.
  const account = manifest(
    'tools/generated-roles.ts',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: CONTROLLERS, namespace: HOME } },
  );
  yield [fileOf('serviceaccount', CONTROLLERS), account];
}

const typed = (kind: string) => ({ apiVersion: `${GROUP}/v1`, kind });
const refTo = (kind: string, name: string) => ({ apiGroup: GROUP, kind, name });
const fileOf = (kind: string, name: string): string => `${name.replace(':', '-')}.${kind}.yaml`;
