import { internalUser } from '../auth/identity.ts';
import type { WriteOptions } from '../objects/context.ts';

/** How a part of the engine writes on its own account. */
export const internalOptions = (fieldManager: string): WriteOptions => ({
  user: internalUser,
  dryRun: false,
  fieldManager,
  fieldValidation: 'Ignore',
  warnings: [],
});
