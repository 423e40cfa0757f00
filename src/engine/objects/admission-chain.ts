import type { Admission, AdmissionRequest, LiveReader } from '../../api/admission.ts';
import type { Resource } from '../resources/resource.ts';

/** The checks of the capabilities, by the kind that they are for. */
export class AdmissionChain {
  /** `group/plural` → what has a say, in the order given. */
  readonly #byKind = new Map<string, Admission[]>();
  readonly #live: LiveReader;

  constructor(admissions: readonly Admission[], live: LiveReader) {
    this.#live = live;
    for (const admission of admissions) {
      const key = `${admission.kind.group}/${admission.kind.plural}`;
      const known = this.#byKind.get(key);
      if (known === undefined) this.#byKind.set(key, [admission]);
      else known.push(admission);
    }
  }

  /** Returns whether anything had the chance to change the object. */
  async mutate(resource: Resource, request: AdmissionRequest): Promise<boolean> {
    let asked = false;
    for (const { operations, mutate } of this.#of(resource)) {
      if (mutate === undefined || !operations.includes(request.operation)) continue;
      await mutate(request, this.#live);
      asked = true;
    }
    return asked;
  }

  async validate(resource: Resource, request: AdmissionRequest): Promise<string[]> {
    const warnings: string[] = [];
    for (const { operations, validate } of this.#of(resource)) {
      if (validate === undefined || !operations.includes(request.operation)) continue;
      warnings.push(...((await validate(request, this.#live)) ?? []));
    }
    return warnings;
  }

  #of(resource: Resource): readonly Admission[] {
    return this.#byKind.get(`${resource.group}/${resource.plural}`) ?? [];
  }
}
