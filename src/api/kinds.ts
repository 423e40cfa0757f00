import type { DeclaredKind } from './kind.ts';

/** Every kind that Netloom declares itself, in the order in which people meet them. */
export const allKinds: readonly DeclaredKind[] = [];
