import type { Admission } from '../../api/admission.ts';
import { builtinKind } from '../../api/kind.ts';
import { forbidden } from '../../api/status.ts';

/** The namespaces that are there from the start. */
export const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const Namespace = builtinKind('', 'v1', 'Namespace', 'namespaces', 'Cluster');

/** Clients rely on the namespaces of the system: nobody deletes them, nor by mistake all that is in them. */
export const lastingNamespaces: Admission = {
  kind: Namespace,
  operations: ['DELETE'],
  validate({ name }) {
    if (SYSTEM_NAMESPACES.includes(name)) throw forbidden(Namespace, name, 'this namespace may not be deleted');
    return [];
  },
};
