import { ApiError } from '../../api/status.ts';

/** In which form a client wants its answer. */
export interface Accepted {
  readonly encoding: 'json' | 'yaml';
  readonly as: 'object' | 'table' | 'metadata' | 'discovery';
  /** The Content-Type that tells the client which of its wishes was met. */
  readonly contentType: string;
}

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** The forms that an address can answer in, besides the plain one. */
export type Alternative = 'table' | 'metadata' | 'discovery';

/**
 * The first of the client's wishes that can be met. Protobuf answers are never made: every client that asks for them
 * takes JSON as well.
 */
export function negotiate(accept: string | undefined, alternatives: readonly Alternative[]): Accepted {
  const wishes = accept === undefined || accept.trim() === '' ? [JSON_TYPE] : accept.split(',');
  for (const wish of wishes) {
    const accepted = meet(wish, alternatives);
    if (accepted !== undefined) return accepted;
  }
  throw new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${JSON_TYPE}, ${YAML_TYPE}`);
}

function meet(wish: string, alternatives: readonly Alternative[]): Accepted | undefined {
  const [type = '', ...rest] = wish.split(';').map((part) => part.trim());
  const parameters = new Map(rest.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
  if (parameters.get('q') === '0') return undefined;
  const encoding = encodingOf(type.toLowerCase());
  if (encoding === undefined) return undefined;
  const plain = encoding === 'json' ? JSON_TYPE : YAML_TYPE;
  const form = parameters.get('as');
  if (form === undefined) return { encoding, as: 'object', contentType: plain };
  const as = alternativeOf(form, parameters.get('g') ?? '', parameters.get('v') ?? '');
  if (as === undefined || !alternatives.includes(as)) return undefined;
  const named = ['g', 'v', 'as'].flatMap((key) => (parameters.has(key) ? [`${key}=${parameters.get(key)}`] : []));
  return { encoding, as, contentType: as === 'discovery' ? [plain, ...named].join(';') : plain };
}

function encodingOf(type: string): 'json' | 'yaml' | undefined {
  if (type === JSON_TYPE || type === '*/*' || type === 'application/*') return 'json';
  if (type === YAML_TYPE || type === 'application/x-yaml' || type === 'text/yaml') return 'yaml';
  return undefined;
}

function alternativeOf(form: string, group: string, version: string): Alternative | undefined {
  if (group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1')) {
    if (form === 'Table') return 'table';
    if (form === 'PartialObjectMetadata' || form === 'PartialObjectMetadataList') return 'metadata';
  }
  if (group === 'apidiscovery.k8s.io' && version === 'v2' && form === 'APIGroupDiscoveryList') return 'discovery';
  return undefined;
}
