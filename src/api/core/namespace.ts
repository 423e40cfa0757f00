import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

/** What Netloom reads of namespaces, which every server brings along. */
export const Namespace = builtinKind<Namespace>('', 'v1', 'Namespace', 'namespaces', 'Cluster');
export type Namespace = ApiObject;
