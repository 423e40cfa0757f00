import type { Controller } from '../runtime/controller.ts';
import { endpoints } from './endpoints/endpoints.controller.ts';
import { mirroredSlices } from './endpoints/mirror.controller.ts';
import { endpointSlices } from './endpoints/slices.controller.ts';

export { servicesRights } from './rights.ts';

/** What keeps endpoints of Services, where no kube-controller-manager does. */
export const servicesControllers = (): Controller[] => [endpointSlices(), endpoints(), mirroredSlices()];
