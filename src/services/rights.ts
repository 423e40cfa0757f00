import { Endpoints } from '../api/core/endpoints.ts';
import { Node } from '../api/core/node.ts';
import { Pod } from '../api/core/pod.ts';
import { Service } from '../api/core/service.ts';
import { EndpointSlice } from '../api/discovery.k8s.io/endpoint-slice.ts';
import { may, mayBlockDeletion, mayHear, type Right } from '../runtime/right.ts';

export const servicesRights: readonly Right[] = [
  ...mayHear(Service, Pod, Node),
  ...may('list watch create update delete', [Endpoints, EndpointSlice]),
  ...mayBlockDeletion(Service, Endpoints),
];
