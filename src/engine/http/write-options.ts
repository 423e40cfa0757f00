import type { JsonObject } from '../../api/json.ts';
import { badRequest, type FieldError, invalid } from '../../api/status.ts';
import type { WriteOptions } from '../objects/context.ts';
import type { DeleteOptions } from '../objects/delete.ts';
import { isTrue } from '../objects/watch.ts';
import type { Call } from './call.ts';

/** What the query says about how to write. `kind` is that of the options, for refusals. */
export function writeOptions(
  call: Call,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions',
): WriteOptions {
  const faults: FieldError[] = [];
  const dryRun = call.query.getAll('dryRun').filter((value) => value !== '');
  const fieldValidation = call.query.get('fieldValidation') || 'Warn';
  const given = call.query.get('fieldManager') ?? '';
  if (dryRun.some((value) => value !== 'All')) {
    faults.push({ type: 'NotSupported', field: 'dryRun', value: dryRun, detail: 'supported values: "All"' });
  }
  if (!isFieldValidation(fieldValidation)) {
    faults.push({
      type: 'NotSupported',
      field: 'fieldValidation',
      value: fieldValidation,
      detail: 'supported values: "Ignore", "Strict", "Warn"',
    });
  }
  if (given.length > 128) {
    faults.push({ type: 'TooLong', field: 'fieldManager', value: given, detail: 'may not be more than 128 bytes' });
  } else if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(given)) {
    faults.push({
      type: 'Invalid',
      field: 'fieldManager',
      value: given,
      detail: 'should only contain printable characters',
    });
  }
  if (faults.length > 0 || !isFieldValidation(fieldValidation)) {
    throw invalid({ group: 'meta.k8s.io', kind }, '', faults);
  }
  return {
    user: call.user,
    dryRun: dryRun.length > 0,
    fieldManager: given === '' ? managerOf(call.userAgent) : given,
    fieldValidation,
    warnings: [],
  };
}

/** Whether fields are taken from others by force, which only an apply patch can ask for; that must say for whom. */
export function forceIn(call: Call, isApply: boolean): boolean {
  const refuse = (fault: FieldError) => invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [fault]);
  if (isApply && (call.query.get('fieldManager') ?? '') === '') {
    throw refuse({ type: 'Required', field: 'fieldManager', detail: 'is required for apply patch' });
  }
  const force = isTrue(call.query.get('force'));
  if (force && !isApply) {
    throw refuse({ type: 'Forbidden', field: 'force', detail: 'may not be specified for non-apply patch' });
  }
  return force;
}

/** The program's own name for itself, up to its version. */
const managerOf = (userAgent: string | undefined): string =>
  (userAgent ?? '').split('/', 1)[0]?.slice(0, 128) || 'unknown';

const isFieldValidation = (text: string): text is WriteOptions['fieldValidation'] =>
  text === 'Ignore' || text === 'Warn' || text === 'Strict';

/** Whether options in a body say that they are not meant. */
export const isDryRun = ({ dryRun }: JsonObject): boolean => Array.isArray(dryRun) && dryRun.includes('All');

/** DeleteOptions come in the body, in the query, or both; the body has the last word. */
export function deleteOptions(body: JsonObject, query: URLSearchParams): DeleteOptions {
  const grace = body['gracePeriodSeconds'] ?? numberOrAbsent(query.get('gracePeriodSeconds'));
  const policy =
    body['propagationPolicy'] ??
    query.get('propagationPolicy') ??
    orphanPolicy(body['orphanDependents'] ?? query.get('orphanDependents'));
  const preconditions = body['preconditions'];
  if (
    policy !== null &&
    policy !== undefined &&
    policy !== 'Orphan' &&
    policy !== 'Background' &&
    policy !== 'Foreground'
  ) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      {
        type: 'NotSupported',
        field: 'propagationPolicy',
        value: policy,
        detail: 'supported values: "Background", "Foreground", "Orphan"',
      },
    ]);
  }
  if (grace !== undefined && grace !== null && (typeof grace !== 'number' || !Number.isInteger(grace))) {
    throw badRequest(`gracePeriodSeconds must be a whole number of seconds, not ${JSON.stringify(grace)}`);
  }
  return {
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(policy === null || policy === undefined ? {} : { propagationPolicy: policy }),
    ...(typeof preconditions === 'object' && preconditions !== null && !Array.isArray(preconditions)
      ? { preconditions: textsOf(preconditions) }
      : {}),
  };
}

function textsOf({ uid, resourceVersion }: JsonObject): { uid?: string; resourceVersion?: string } {
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

/** The field that propagationPolicy replaced; old clients still send it. */
function orphanPolicy(orphanDependents: unknown): 'Orphan' | 'Background' | undefined {
  if (orphanDependents === true || orphanDependents === 'true') return 'Orphan';
  return orphanDependents === false || orphanDependents === 'false' ? 'Background' : undefined;
}

const numberOrAbsent = (text: string | null): number | undefined =>
  text === null || text === '' ? undefined : Number(text);
