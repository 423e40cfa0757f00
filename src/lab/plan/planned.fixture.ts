import assert from 'node:assert/strict';
import { Prefix } from '../../api/prefix.ts';
import { readLabDocument } from '../document/read-document.ts';
import type { LabPlan } from './lab-plan.ts';
import { planLab } from './plan-lab.ts';

/** The plan of a text that is right. */
export function planned(text: string, management = '198.18.0.0/24'): LabPlan {
  const result = planning(text, management);
  if ('faults' in result) assert.fail(result.faults.join('\n'));
  return result.plan;
}

/** The plan of a text, or what does not fit in it. */
export function planning(text: string, management = '198.18.0.0/24'): { plan: LabPlan } | { faults: string[] } {
  const read = readLabDocument(text);
  const result = 'faults' in read ? read : planLab(read.document, Prefix.parse(management) as Prefix);
  if ('plan' in result) return result;
  return { faults: result.faults.map(({ line, path, sentence }) => `${line} ${path}: ${sentence}`) };
}
