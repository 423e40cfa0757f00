import type { JsonObject } from '../../../api/json.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults, dnsSubdomainFaults } from '../../../api/syntax.ts';
import { duplicate, forbiddenField, invalidFor, invalidValue, required, unsupported } from '../field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, optionalNumberAt, textAt } from '../reading.ts';
import { validateFieldRef, validateResourceRef } from './env-rules.ts';

/** Volumes of a pod by name: those that containers may mount. */
export type Volumes = ReadonlyMap<string, JsonObject>;

export function validateVolumes(spec: JsonObject, path: string): [Volumes, FieldError[]] {
  const volumes = new Map<string, JsonObject>();
  const errors = objectsAt(spec, 'volumes').flatMap((volume, i) => {
    const at = `${path}[${i}]`;
    const name = textAt(volume, 'name');
    const faults = [
      ...validateSource(volume, at),
      ...(name === '' ? [required(`${at}.name`)] : invalidFor(`${at}.name`, name, dnsLabelFaults(name))),
      ...(volumes.has(name) ? [duplicate(`${at}.name`, name)] : []),
    ];
    if (faults.length === 0) volumes.set(name, volume);
    return faults;
  });
  return [volumes, errors];
}

type Check = (source: JsonObject, path: string) => FieldError[];

/** Every kind of volume, in the order in which the first one found counts. */
const SOURCES: Readonly<Record<string, Check>> = {
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  gitRepo: requires('repository'),
  gcePersistentDisk: requires('pdName'),
  awsElasticBlockStore: requires('volumeID'),
  secret: (source, path) => [
    ...requires('secretName')(source, path),
    ...validateModes(source, path),
    ...validateItems(source, path),
  ],
  nfs: validateNfs,
  iscsi: requires('targetPortal', 'iqn'),
  glusterfs: requires('endpoints', 'path'),
  flocker: () => [],
  persistentVolumeClaim: requires('claimName'),
  rbd: requires('image'),
  cinder: requires('volumeID'),
  cephfs: () => [],
  quobyte: requires('registry', 'volume'),
  downwardAPI: (source, path) => [
    ...validateModes(source, path),
    ...objectsAt(source, 'items').flatMap((file) => validateDownwardFile(file, path)),
  ],
  fc: () => [],
  flexVolume: requires('driver'),
  configMap: (source, path) => [
    ...requires('name')(source, path),
    ...validateModes(source, path),
    ...validateItems(source, path),
  ],
  azureFile: requires('secretName', 'shareName'),
  vsphereVolume: requires('volumePath'),
  photonPersistentDisk: requires('pdID'),
  portworxVolume: requires('volumeID'),
  azureDisk: requires('diskName', 'diskURI'),
  storageos: () => [],
  projected: validateProjected,
  scaleIO: requires('gateway', 'system', 'volumeName'),
  csi: validateCsi,
  ephemeral: requires('volumeClaimTemplate'),
  image: requires('reference'),
};

function validateSource(volume: JsonObject, path: string): FieldError[] {
  const kinds = Object.entries(SOURCES).filter(([kind]) => !isAbsent(volume, kind));
  const [first, ...others] = kinds;
  if (first === undefined) return [required(path, 'must specify a volume type')];
  const [kind, check] = first;
  return [
    ...check(objectAt(volume, kind) ?? {}, `${path}.${kind}`),
    ...others.map(([other]) => forbiddenField(`${path}.${other}`, 'may not specify more than 1 volume type')),
  ];
}

function requires(...fields: readonly string[]): Check {
  return (source, path) =>
    fields
      .filter((field) => textAt(source, field) === '' && objectAt(source, field) === undefined)
      .map((field) => required(`${path}.${field}`));
}

function validateEmptyDir(source: JsonObject, path: string): FieldError[] {
  const limit = parseQuantity(source['sizeLimit']);
  if (limit === undefined || limit.nanos >= 0n) return [];
  return [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function validateHostPath(source: JsonObject, path: string): FieldError[] {
  const target = textAt(source, 'path');
  if (target === '') return [required(`${path}.path`)];
  const type = textAt(source, 'type');
  return [
    ...validateNoBacksteps(target, `${path}.path`),
    ...(HOST_PATH_TYPES.includes(type) ? [] : [unsupported(`${path}.type`, type, HOST_PATH_TYPES)]),
  ];
}

function validateNfs(source: JsonObject, path: string): FieldError[] {
  const target = textAt(source, 'path');
  const errors = requires('server', 'path')(source, path);
  return target.startsWith('/')
    ? errors
    : [...errors, invalidValue(`${path}.path`, target, 'must be an absolute path')];
}

function validateCsi(source: JsonObject, path: string): FieldError[] {
  const driver = textAt(source, 'driver');
  const secret = objectAt(source, 'nodePublishSecretRef');
  return [
    ...(driver === '' ? [required(`${path}.driver`)] : []),
    ...(driver.length > 63 ? [invalidValue(`${path}.driver`, driver, 'must be no more than 63 characters')] : []),
    ...invalidFor(`${path}.driver`, driver, dnsSubdomainFaults(driver.toLowerCase())),
    ...(secret !== undefined && textAt(secret, 'name') === '' ? [required(`${path}.nodePublishSecretRef.name`)] : []),
  ];
}

const MODE_FAULT = 'must be a number between 0 and 0777 (octal), both inclusive';

function validateMode(holder: JsonObject, field: string, path: string): FieldError[] {
  const mode = optionalNumberAt(holder, field);
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return [];
  return [invalidValue(`${path}.${field}`, mode, MODE_FAULT)];
}

const validateModes = (source: JsonObject, path: string): FieldError[] => validateMode(source, 'defaultMode', path);

const validateItems = (source: JsonObject, path: string): FieldError[] =>
  objectsAt(source, 'items').flatMap((item, i) => {
    const at = `${path}.items[${i}]`;
    return [
      ...requires('key', 'path')(item, at),
      ...validateOwnPath(textAt(item, 'path'), `${at}.path`),
      ...validateMode(item, 'mode', at),
    ];
  });

const FIELDS_OF_FILES = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

function validateDownwardFile(file: JsonObject, path: string): FieldError[] {
  const errors = [...requires('path')(file, path), ...validateOwnPath(textAt(file, 'path'), `${path}.path`)];
  const field = objectAt(file, 'fieldRef');
  const resource = objectAt(file, 'resourceFieldRef');
  if (field !== undefined) {
    errors.push(...validateFieldRef(field, FIELDS_OF_FILES, `${path}.fieldRef`));
    if (resource !== undefined) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(invalidValue(path, 'resource', detail));
    }
  } else if (resource !== undefined) {
    errors.push(...validateResourceRef(resource, `${path}.resourceFieldRef`, true));
  } else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...validateMode(file, 'mode', path)];
}

const SHORTEST_TOKEN = 600;
const LONGEST_TOKEN = 2 ** 32;
const PROJECTIONS = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle'];

function validateProjected(source: JsonObject, path: string): FieldError[] {
  const taken = new Set<string>();
  const once = (file: string, value: string): FieldError[] => {
    const isTaken = file !== '' && taken.has(file);
    taken.add(file);
    return isTaken ? [invalidValue(path, value, 'conflicting duplicate paths')] : [];
  };
  return [
    ...validateModes(source, path),
    ...objectsAt(source, 'sources').flatMap((projection, i) => {
      const at = `${path}.sources[${i}]`;
      const kinds = PROJECTIONS.filter((kind) => objectAt(projection, kind) !== undefined);
      const more = forbiddenField(at, 'may not specify more than 1 volume type per source');
      return [...validateProjection(projection, at, path, once), ...(kinds.length > 1 ? [more] : [])];
    }),
  ];
}

function validateProjection(
  projection: JsonObject,
  at: string,
  path: string,
  once: (file: string, value: string) => FieldError[],
): FieldError[] {
  const errors: FieldError[][] = [];
  for (const kind of ['secret', 'configMap']) {
    const from = objectAt(projection, kind);
    if (from === undefined) continue;
    errors.push(requires('name')(from, `${at}.${kind}`), validateItems(from, `${at}.${kind}`));
    errors.push(objectsAt(from, 'items').flatMap((item) => once(textAt(item, 'path'), textAt(from, 'name'))));
  }
  for (const file of objectsAt(objectAt(projection, 'downwardAPI'), 'items')) {
    errors.push(validateDownwardFile(file, `${at}.downwardAPI`), once(textAt(file, 'path'), textAt(file, 'path')));
  }
  const token = objectAt(projection, 'serviceAccountToken');
  if (token !== undefined) errors.push(validateToken(token, `${at}.serviceAccountToken`, path));
  return errors.flat();
}

function validateToken(token: JsonObject, at: string, path: string): FieldError[] {
  const seconds = numberAt(token, 'expirationSeconds');
  const file = textAt(token, 'path');
  const wrong = (detail: string): FieldError => invalidValue(`${at}.expirationSeconds`, seconds, detail);
  return [
    ...(seconds < SHORTEST_TOKEN ? [wrong('may not specify a duration less than 10 minutes')] : []),
    ...(seconds > LONGEST_TOKEN ? [wrong('may not specify a duration larger than 2^32 seconds')] : []),
    ...(file === '' ? [required(`${path}.path`)] : validateOwnPath(file, `${path}.path`)),
  ];
}

/** A path inside of something, without a way out. */
export function validateRelativePath(target: string, path: string): FieldError[] {
  const errors = target.startsWith('/') ? [invalidValue(path, target, 'must be a relative path')] : [];
  return [...errors, ...validateNoBacksteps(target, path)];
}

export function validateNoBacksteps(target: string, path: string): FieldError[] {
  return target.split('/').includes('..') ? [invalidValue(path, target, "must not contain '..'")] : [];
}

/** As `validateRelativePath`; names that begin with two dots belong to whoever fills the volume. */
function validateOwnPath(target: string, path: string): FieldError[] {
  const errors = validateRelativePath(target, path);
  if (!target.startsWith('..') || target.startsWith('../')) return errors;
  return [...errors, invalidValue(path, target, "must not start with '..'")];
}
