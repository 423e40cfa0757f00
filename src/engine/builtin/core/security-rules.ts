import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, forbiddenField, invalidValue, required, unsupported } from '../field-errors.ts';
import { flagAt, isAbsent, objectAt, objectsAt, optionalNumberAt, textAt, textsAt } from '../reading.ts';
import { validateRelativePath } from './volume-rules.ts';

/** Who the processes of a pod are, and what they share with the host. */
export function validatePodSecurity(spec: JsonObject, path: string): FieldError[] {
  const context = objectAt(spec, 'securityContext');
  const at = `${path}.securityContext`;
  const groups = context?.['supplementalGroups'];
  const errors = [
    ...['fsGroup', 'runAsUser', 'runAsGroup'].flatMap((field) =>
      validateId(optionalNumberAt(context, field), `${at}.${field}`),
    ),
    ...(Array.isArray(groups) ? groups : []).flatMap((group, i) =>
      validateId(typeof group === 'number' ? group : 0, `${at}.supplementalGroups[${i}]`),
    ),
    ...validateSysctls(spec, context, `${at}.sysctls`),
    ...validateChoice(context, 'fsGroupChangePolicy', ['Always', 'OnRootMismatch'], at),
    ...validateProfile(objectAt(context, 'seccompProfile'), 'seccomp', `${at}.seccompProfile`),
    ...validateProfile(objectAt(context, 'appArmorProfile'), 'AppArmor', `${at}.appArmorProfile`),
    ...validateChoice(context, 'supplementalGroupsPolicy', ['Merge', 'Strict'], at),
  ];
  if (flagAt(spec, 'shareProcessNamespace') && flagAt(spec, 'hostPID')) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalidValue(`${at}.shareProcessNamespace`, true, detail));
  }
  if (spec['hostUsers'] === false) {
    for (const [field, name] of [
      ['hostNetwork', 'hostNetwork'],
      ['hostPID', 'HostPID'],
      ['hostIPC', 'HostIPC'],
    ] as const) {
      if (flagAt(spec, field)) errors.push(forbiddenField(`${path}.${name}`, 'when `pod.Spec.HostUsers` is false'));
    }
  }
  return errors;
}

export function validateContainerSecurity(container: JsonObject, path: string): FieldError[] {
  const context = objectAt(container, 'securityContext');
  if (context === undefined) return [];
  const errors = [
    ...['runAsUser', 'runAsGroup'].flatMap((field) => validateId(optionalNumberAt(context, field), `${path}.${field}`)),
    ...validateChoice(context, 'procMount', ['Default', 'Unmasked'], path),
    ...validateProfile(objectAt(context, 'seccompProfile'), 'seccomp', `${path}.seccompProfile`),
    ...validateProfile(objectAt(context, 'appArmorProfile'), 'AppArmor', `${path}.appArmorProfile`),
  ];
  if (context['allowPrivilegeEscalation'] === false) {
    const cannot = (what: string): FieldError =>
      invalidValue(path, context, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
    if (flagAt(context, 'privileged')) errors.push(cannot('`privileged` to true'));
    if (textsAt(objectAt(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) {
      errors.push(cannot('`capabilities.Add` CAP_SYS_ADMIN'));
    }
  }
  return errors;
}

const LARGEST_ID = 2 ** 31 - 1;

function validateId(id: number | undefined, path: string): FieldError[] {
  if (id === undefined || (id >= 0 && id <= LARGEST_ID)) return [];
  return [invalidValue(path, id, `must be between 0 and ${LARGEST_ID}, inclusive`)];
}

function validateChoice(
  context: JsonObject | undefined,
  field: string,
  choices: readonly string[],
  path: string,
): FieldError[] {
  const value = textAt(context, field);
  return isAbsent(context, field) || choices.includes(value) ? [] : [unsupported(`${path}.${field}`, value, choices)];
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateProfile(profile: JsonObject | undefined, kind: 'seccomp' | 'AppArmor', path: string): FieldError[] {
  if (profile === undefined) return [];
  const type = textAt(profile, 'type');
  const file = `${path}.localhostProfile`;
  const hasFile = !isAbsent(profile, 'localhostProfile');
  if (type === '')
    return [
      required(`${path}.type`, `type is required when ${kind === 'seccomp' ? 'seccomp' : 'appArmor'}Profile is set`),
    ];
  if (!PROFILE_TYPES.includes(type)) return [unsupported(`${path}.type`, type, PROFILE_TYPES)];
  if (type !== 'Localhost') {
    return hasFile
      ? [invalidValue(file, profile['localhostProfile'], `can only be set when ${kind} type is Localhost`)]
      : [];
  }
  if (!hasFile) return [required(file, `must be set when ${kind} type is Localhost`)];
  return kind === 'seccomp' ? validateRelativePath(textAt(profile, 'localhostProfile'), file) : [];
}

const SYSCTL = /^[a-z0-9](?:[-_]*[a-z0-9])*(?:[./][a-z0-9](?:[-_]*[a-z0-9])*)*$/;
const SYSCTL_TEXT = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const IPC_SYSCTLS = /^(?:kernel[./](?:shm|msg|sem)|fs[./]mqueue[./])/;

function validateSysctls(spec: JsonObject, context: JsonObject | undefined, path: string): FieldError[] {
  const names = new Set<string>();
  return objectsAt(context, 'sysctls').flatMap((sysctl, i) => {
    const at = `${path}[${i}].name`;
    const name = textAt(sysctl, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(at));
    else if (name.length > 253 || !SYSCTL.test(name)) {
      errors.push(invalidValue(at, name, `must have at most 253 characters and match regex ${SYSCTL_TEXT}`));
    } else if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
    // In the host's own namespace the setting would be the host's.
    if (flagAt(spec, 'hostNetwork') && /^net[./]/.test(name)) {
      errors.push(invalidValue(at, name, "may not be specified when 'hostNetwork' is true"));
    } else if (flagAt(spec, 'hostIPC') && IPC_SYSCTLS.test(name)) {
      errors.push(invalidValue(at, name, "may not be specified when 'hostIPC' is true"));
    }
    return errors;
  });
}
