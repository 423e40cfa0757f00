import { type BuiltinKind, defineBuiltin } from '../builtin-kind.ts';

/** Questions: they are created, answered in their status, and never stored. */
const review = (group: string, kind: string, namespaced = false): BuiltinKind =>
  defineBuiltin({
    group,
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced,
    qualifiedFinalizers: false,
    verbs: ['create'],
  });

export const reviews: readonly BuiltinKind[] = [
  review('authentication.k8s.io', 'SelfSubjectReview'),
  review('authentication.k8s.io', 'TokenReview'),
  review('authorization.k8s.io', 'LocalSubjectAccessReview', true),
  review('authorization.k8s.io', 'SelfSubjectAccessReview'),
  review('authorization.k8s.io', 'SelfSubjectRulesReview'),
  review('authorization.k8s.io', 'SubjectAccessReview'),
];
