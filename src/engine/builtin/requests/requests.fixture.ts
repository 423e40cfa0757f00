import type { JsonObject } from '../../../api/json.ts';
import { data } from './data.fixture.ts';
import { definitions } from './definitions.fixture.ts';
import { others } from './others.fixture.ts';
import { pods } from './pods.fixture.ts';
import { services } from './services.fixture.ts';

export { rows } from './rows.fixture.ts';
export { updates } from './updates.fixture.ts';

/**
 * Objects that do not exist yet, right ones and wrong ones. kube-apiserver has been asked about each, see testdata/README.md:
 * whoever changes them, or their order, records the answers anew.
 */
export const creations: readonly JsonObject[] = [...data, ...services, ...pods, ...others, ...definitions];
