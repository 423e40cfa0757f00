import type { Admission, AdmissionRequest, LiveReader } from '../../api/admission.ts';
import type { Resource } from '../resources/resource.ts';
import { Turns } from './turns.ts';

/** The checks of the capabilities, by the kind that they are for. */
export class AdmissionChain {
  /** `group/plural` → what has a say, in the order given. */
  readonly #byKind = new Map<string, Admission[]>();
  readonly #live: LiveReader;
  readonly #turns = new Turns();

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
    for (const { mutate } of this.#of(resource, request)) {
      if (mutate === undefined) continue;
      await mutate(request, this.#live);
      asked = true;
    }
    return asked;
  }

  async validate(resource: Resource, request: AdmissionRequest): Promise<string[]> {
    const warnings: string[] = [];
    for (const { validate } of this.#of(resource, request)) {
      warnings.push(...((await validate?.(request, this.#live)) ?? []));
    }
    return warnings;
  }

  /** Checks and stores what is asked for when no other write is under way that the check would have to know of. */
  async inTurn<T>(resource: Resource, request: AdmissionRequest, write: () => Promise<T>): Promise<T> {
    const turn = this.#of(resource, request).find((admission) => admission.turn !== undefined)?.turn;
    if (turn === undefined) return write();
    const end = await this.#turns.take(`${request.namespace}/${turn.line}`, turn);
    try {
      return await write();
    } finally {
      end();
    }
  }

  #of({ group, plural }: Resource, { operation, subresource }: AdmissionRequest): readonly Admission[] {
    const admissions = this.#byKind.get(`${group}/${plural}`) ?? [];
    return admissions.filter(
      ({ operations, subresources }) =>
        operations.includes(operation) && (subresource === undefined || subresources?.includes(subresource) === true),
    );
  }
}
