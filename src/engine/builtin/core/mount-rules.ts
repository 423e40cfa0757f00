import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, missing, required, unsupported } from '../field-errors.ts';
import { flagAt, isAbsent, objectAt, objectsAt, textAt } from '../reading.ts';
import { type Volumes, validateNoBacksteps, validateRelativePath } from './volume-rules.ts';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

export function validateMounts(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const devices = objectsAt(container, 'volumeDevices');
  const deviceNames = new Set(devices.map((device) => textAt(device, 'name')));
  const devicePaths = new Set(devices.map((device) => textAt(device, 'devicePath')));
  const taken = new Set<string>();
  return objectsAt(container, 'volumeMounts').flatMap((mount, i) => {
    const at = `${path}[${i}]`;
    const name = textAt(mount, 'name');
    const mountPath = textAt(mount, 'mountPath');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(missing(`${at}.name`, name));
    if (mountPath === '') errors.push(required(`${at}.mountPath`));
    if (taken.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must be unique'));
    taken.add(mountPath);
    if (deviceNames.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devicePaths.has(mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices';
      errors.push(invalidValue(`${at}.mountPath`, mountPath, detail));
    }
    return [...errors, ...validateSubPath(mount, at, path), ...validatePropagation(mount, container, path)];
  });
}

function validateSubPath(mount: JsonObject, at: string, path: string): FieldError[] {
  const subPath = textAt(mount, 'subPath');
  const expression = textAt(mount, 'subPathExpr');
  const errors = subPath === '' ? [] : validateRelativePath(subPath, `${path}.subPath`);
  if (expression === '') return errors;
  if (subPath !== '') {
    const detail = 'subPathExpr and subPath are mutually exclusive';
    errors.push(invalidValue(`${at}.subPathExpr`, expression, detail));
  }
  return [...errors, ...validateRelativePath(expression, `${path}.subPathExpr`)];
}

function validatePropagation(mount: JsonObject, container: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const propagation = textAt(mount, 'mountPropagation');
  if (!isAbsent(mount, 'mountPropagation')) {
    const at = `${path}.mountPropagation`;
    if (!PROPAGATIONS.includes(propagation)) errors.push(unsupported(at, propagation, PROPAGATIONS));
    if (propagation === 'Bidirectional' && !flagAt(objectAt(container, 'securityContext'), 'privileged')) {
      const detail = 'Bidirectional mount propagation is available only to privileged containers';
      errors.push(forbiddenField(at, detail));
    }
  }
  if (isAbsent(mount, 'recursiveReadOnly')) return errors;
  const recursive = textAt(mount, 'recursiveReadOnly');
  const at = `${path}.recursiveReadOnly`;
  if (!RECURSIVE.includes(recursive)) errors.push(unsupported(at, recursive, RECURSIVE));
  else if (recursive !== 'Disabled') {
    if (!flagAt(mount, 'readOnly')) errors.push(forbiddenField(at, 'may only be specified when readOnly is true'));
    if (propagation !== '' && propagation !== 'None') {
      errors.push(forbiddenField(at, 'may only be specified when mountPropagation is None or not specified'));
    }
  }
  return errors;
}

export function validateDevices(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const mounts = objectsAt(container, 'volumeMounts');
  const mountNames = new Set(mounts.map((mount) => textAt(mount, 'name')));
  const mountPaths = new Set(mounts.map((mount) => textAt(mount, 'mountPath')));
  const names = new Set<string>();
  const paths = new Set<string>();
  return objectsAt(container, 'volumeDevices').flatMap((device, i) => {
    const at = `${path}[${i}]`;
    const name = textAt(device, 'name');
    const devicePath = textAt(device, 'devicePath');
    const source = volumes.get(name);
    const errors: FieldError[] = [];
    const wrong = (field: string, detail: string): void => {
      errors.push(invalidValue(`${at}.${field}`, field === 'name' ? name : devicePath, detail));
    };
    if (name === '') errors.push(required(`${at}.name`));
    if (names.has(name)) wrong('name', 'must be unique');
    if (source === undefined) errors.push(missing(`${at}.name`, name));
    else if (isAbsent(source, 'persistentVolumeClaim') && isAbsent(source, 'ephemeral')) {
      wrong('name', 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
    }
    if (devicePath === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) wrong('devicePath', 'must be unique');
    if (validateNoBacksteps(devicePath, '').length > 0) wrong('devicePath', "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mountNames.has(name)) wrong('name', 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) wrong('devicePath', 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
    return errors;
  });
}
