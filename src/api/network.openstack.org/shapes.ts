import { list, object, optional, string } from '../shape.ts';

/** What the kinds of this group have in common. */
export const GROUP = 'network.openstack.org';
export const VERSION = 'v1beta1';

const NAME = '^[a-zA-Z0-9][a-zA-Z0-9\\-_]*[a-zA-Z0-9]$';
const SERVICE_NETWORK = '^[a-z0-9][a-z0-9\\-_]*[a-z0-9]$';

export const networkName = string({ pattern: NAME, description: 'The name of a network of the NetConfig.' });
export const subnetName = string({ pattern: NAME, description: 'The name of a subnet of that network.' });
export const serviceNetwork = string({
  pattern: SERVICE_NETWORK,
  description: 'What services call the network; the name in lower case unless told otherwise.',
});

export const routesShape = list(
  object({
    destination: string({ description: 'The network that the route leads to, as a prefix.' }),
    nexthop: string({ description: 'The address, within the subnet, that packets are handed to.' }),
  }),
  { description: 'Routes that hosts on the subnet need beyond the subnet itself.' },
);

export const optionalRoutes = optional(routesShape);

/** Names are compared without case, as people mean them: `CtlPlane` and `ctlplane` are one network. */
export const sameName = (a: string, b: string): boolean => folded(a) === folded(b);
export const folded = (name: string): string => name.toLowerCase();
