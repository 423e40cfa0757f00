import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidFor, invalidValue, nonNegative, required, unsupported } from '../field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, optionalNumberAt, textAt, textsAt } from '../reading.ts';
import { portFaults, validatePortOrName } from './ports.ts';

export function validateProbes(container: JsonObject, path: string): FieldError[] {
  return PROBES.flatMap((name) => {
    const probe = objectAt(container, name);
    if (probe === undefined) return [];
    const at = `${path}.${name}`;
    const errors = validateProbe(probe, at);
    const threshold = numberAt(probe, 'successThreshold');
    if (name !== 'readinessProbe' && threshold !== 1) {
      errors.push(invalidValue(`${at}.successThreshold`, threshold, 'must be 1'));
    }
    if (name === 'readinessProbe' && !isAbsent(probe, 'terminationGracePeriodSeconds')) {
      const seconds = numberAt(probe, 'terminationGracePeriodSeconds');
      errors.push(invalidValue(`${at}.terminationGracePeriodSeconds`, seconds, 'must not be set for readinessProbes'));
    }
    return errors;
  });
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const SECONDS_AND_COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function validateProbe(probe: JsonObject, path: string): FieldError[] {
  const grace = optionalNumberAt(probe, 'terminationGracePeriodSeconds');
  return [
    ...validateHandler(probe, ['exec', 'httpGet', 'tcpSocket', 'grpc'], undefined, path),
    ...SECONDS_AND_COUNTS.flatMap((field) => nonNegative(`${path}.${field}`, numberAt(probe, field))),
    ...(grace !== undefined && grace <= 0
      ? [invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

export function validateLifecycle(container: JsonObject, grace: number | undefined, path: string): FieldError[] {
  const lifecycle = objectAt(container, 'lifecycle');
  return ['postStart', 'preStop'].flatMap((moment) => {
    const handler = objectAt(lifecycle, moment);
    if (handler === undefined) return [];
    return validateHandler(handler, ['exec', 'httpGet', 'tcpSocket', 'sleep'], grace, `${path}.${moment}`);
  });
}

/** Exactly one way of asking a container, or of telling it something. */
function validateHandler(
  handler: JsonObject,
  ways: readonly string[],
  grace: number | undefined,
  path: string,
): FieldError[] {
  const [first, ...others] = ways.filter((way) => objectAt(handler, way) !== undefined);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...validateAction(first, objectAt(handler, first) ?? {}, grace, `${path}.${first}`),
    ...others.map((other) => forbiddenField(`${path}.${other}`, 'may not specify more than 1 handler type')),
  ];
}

function validateAction(way: string, action: JsonObject, grace: number | undefined, path: string): FieldError[] {
  switch (way) {
    case 'exec':
      return textsAt(action, 'command').length === 0 ? [required(`${path}.command`)] : [];
    case 'httpGet':
      return validateHttpGet(action, path);
    case 'tcpSocket':
      return validatePortOrName(action['port'], `${path}.port`);
    case 'grpc':
      return invalidFor(`${path}.port`, numberAt(action, 'port'), portFaults(numberAt(action, 'port')));
    default: {
      const seconds = numberAt(action, 'seconds');
      if (grace === undefined || (seconds >= 0 && seconds <= grace)) return [];
      const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      return [invalidValue(path, seconds, detail)];
    }
  }
}

const SCHEMES = ['HTTP', 'HTTPS'];
const HEADER_FAULT =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function validateHttpGet(action: JsonObject, path: string): FieldError[] {
  const scheme = textAt(action, 'scheme');
  return [
    ...(textAt(action, 'path') === '' ? [required(`${path}.path`)] : []),
    ...validatePortOrName(action['port'], `${path}.port`),
    ...(SCHEMES.includes(scheme) ? [] : [unsupported(`${path}.scheme`, scheme, SCHEMES)]),
    ...objectsAt(action, 'httpHeaders').flatMap((header) => {
      const name = textAt(header, 'name');
      return /^[-A-Za-z0-9]+$/.test(name) ? [] : [invalidValue(`${path}.httpHeaders`, name, HEADER_FAULT)];
    }),
  ];
}
