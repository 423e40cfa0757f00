import type { JsonObject } from '../../../api/json.ts';
import { builtinKind, type Kind } from '../../../api/kind.ts';
import { specOf, textAt } from '../../builtin/reading.ts';

/** A kind of ours of which nodes write the objects that belong to them; all of them may read it by the role `netloom:agent`. */
export interface OwnKind {
  readonly kind: Kind;
  /** Verbs, with the subresource behind it where it is not the object as a whole: `patch status`. */
  readonly writes: readonly string[];
  /** The node that an object belongs to. */
  readonly hostOf: (object: JsonObject) => string;
}

/** Whoever lets agents write another kind says so here: what is written must belong to the node before and after. */
export const ownKinds: readonly OwnKind[] = [
  {
    kind: builtinKind('netloom.io', 'v1alpha1', 'AddressClaim', 'addressclaims'),
    writes: ['create', 'update', 'patch', 'delete'],
    hostOf: (claim) => textAt(specOf(claim), 'host'),
  },
];
