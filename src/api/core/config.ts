import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

export const ConfigMap = builtinKind<ConfigMap>('', 'v1', 'ConfigMap', 'configmaps');
export interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
  /** Base64. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export const Secret = builtinKind<Secret>('', 'v1', 'Secret', 'secrets');
export interface Secret extends ApiObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}

export const ServiceAccount = builtinKind<ServiceAccount>('', 'v1', 'ServiceAccount', 'serviceaccounts');
export interface ServiceAccount extends ApiObject {
  automountServiceAccountToken?: boolean;
}
