import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';

/** Servers ask about objects of the declared kind only, and after they have checked the schema. */
export function asKind<T extends ApiObject>(kind: Kind<T>, object: ApiObject | undefined): T | undefined {
  return object !== undefined && isOf(kind, object) ? object : undefined;
}

const isOf = <T extends ApiObject>({ kind }: Kind<T>, object: ApiObject): object is T => object.kind === kind;
