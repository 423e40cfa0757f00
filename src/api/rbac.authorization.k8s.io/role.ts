import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

const GROUP = 'rbac.authorization.k8s.io';

export const Role = builtinKind<Role>(GROUP, 'v1', 'Role', 'roles');
export interface Role extends ApiObject {
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}

export const RoleBinding = builtinKind<RoleBinding>(GROUP, 'v1', 'RoleBinding', 'rolebindings');
export interface RoleBinding extends ApiObject {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string; apiGroup?: string }[];
}
