import type { JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { structuralFaults } from '../schema/structural.ts';
import type { Catalog } from './catalog.ts';
import { CLEANUP, definitionOf, definitionStatus } from './definition.ts';
import type { Rules } from './resource.ts';

/** What sets CustomResourceDefinitions apart from other built-in kinds: their effect on what is served. */
export function definitionRules(catalog: () => Catalog, now: () => Date): ReadonlyMap<string, (base: Rules) => Rules> {
  const time = () => timestamp(now().getTime());
  const rules = (base: Rules): Rules => ({
    ...base,
    prepare(object, old) {
      base.prepare(object, old);
      const definition = definitionOf(object);
      // What has no proper shape is refused a moment later.
      if (!Array.isArray(definition.spec?.versions) || typeof definition.spec.names?.plural !== 'string') return;
      if (old === undefined) delete object['status'];
      const others = catalog()
        .resources.filter((resource) => resource.definition !== undefined)
        .map(({ group, kind, plural, singular, listKind, shortNames, definition: of }) => ({
          group,
          definition: of?.name ?? '',
          names: { kind, plural, singular, listKind, shortNames: [...shortNames] },
        }));
      object['status'] = asJson(definitionStatus(definition, others, time()));
    },
    validate(object, old) {
      const faults = base.validate(object, old);
      if (faults.length > 0) return faults;
      return definitionOf(object).spec.versions.flatMap(({ schema }, i) =>
        schema?.openAPIV3Schema === undefined
          ? []
          : structuralFaults(schema.openAPIV3Schema, `spec.versions[${i}].schema.openAPIV3Schema`),
      );
    },
    beginDeletion(object) {
      const metadata = metadataOf(object);
      const finalizers = Array.isArray(metadata['finalizers']) ? metadata['finalizers'] : [];
      if (!finalizers.includes(CLEANUP)) metadata['finalizers'] = [...finalizers, CLEANUP];
      const status = definitionOf(object).status ?? {};
      const terminating = {
        type: 'Terminating',
        status: 'True' as const,
        lastTransitionTime: time(),
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      };
      object['status'] = asJson({ ...status, conditions: [...(status.conditions ?? []), terminating] });
    },
  });
  return new Map([['customresourcedefinitions.apiextensions.k8s.io', rules]]);
}

const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
