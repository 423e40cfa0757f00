import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { invalidFor, required, unsupported } from '../field-errors.ts';
import { firstOfMany } from '../first-of-many.ts';
import { ipFamily, validateEndpointIp, validateIp } from '../ip-text.ts';
import { fill, isAbsent, membersAt, numberAt, objectsAt, textAt } from '../reading.ts';
import { PROTOCOLS, portFaults } from './ports.ts';

export const endpoints = defineBuiltin({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  qualifiedFinalizers: true,
  createOnUpdate: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  columns: [
    nameColumn,
    column('Endpoints', { description: 'Addresses and ports behind the service of that name.' }, (object) =>
      firstOfMany(objectsAt(object, 'subsets').flatMap(readyOnes), '<none>'),
    ),
    ageColumn,
  ],

  defaults(object) {
    for (const port of membersAt(object, 'subsets').flatMap((subset) => membersAt(subset, 'ports'))) {
      fill(port, 'protocol', 'TCP');
    }
  },

  validate: (object) => objectsAt(object, 'subsets').flatMap((subset, i) => validateSubset(subset, `subsets[${i}]`)),
});

/** Every address with every port: that is what a subset stands for. */
function readyOnes(subset: JsonObject): string[] {
  const addresses = objectsAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
  const ports = objectsAt(subset, 'ports').map((port) => numberAt(port, 'port'));
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) =>
    addresses.map((address) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`)),
  );
}

function validateSubset(subset: JsonObject, path: string): FieldError[] {
  const lists = ['addresses', 'notReadyAddresses'];
  const ports = objectsAt(subset, 'ports');
  const errors: FieldError[] = [];
  if (lists.every((list) => objectsAt(subset, list).length === 0)) {
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  for (const list of lists) {
    for (const [i, address] of objectsAt(subset, list).entries()) {
      errors.push(...validateAddress(address, `${path}.${list}[${i}]`));
    }
  }
  return [...errors, ...ports.flatMap((port, i) => validatePort(port, `${path}.ports[${i}]`, ports.length > 1))];
}

function validateAddress(address: JsonObject, path: string): FieldError[] {
  const ip = textAt(address, 'ip');
  const hostname = textAt(address, 'hostname');
  const errors = ipFamily(ip) === 0 ? validateIp(ip, `${path}.ip`) : validateEndpointIp(ip, `${path}.ip`);
  return hostname === '' ? errors : [...errors, ...invalidFor(`${path}.hostname`, hostname, dnsLabelFaults(hostname))];
}

function validatePort(port: JsonObject, path: string, mustHaveName: boolean): FieldError[] {
  const name = textAt(port, 'name');
  const number = numberAt(port, 'port');
  const protocol = textAt(port, 'protocol');
  const application = textAt(port, 'appProtocol');
  const errors = invalidFor(`${path}.port`, number, portFaults(number));
  if (name !== '') errors.push(...invalidFor(`${path}.name`, name, dnsLabelFaults(name)));
  else if (mustHaveName) errors.push(required(`${path}.name`));
  if (protocol === '') errors.push(required(`${path}.protocol`));
  else if (!PROTOCOLS.includes(protocol)) errors.push(unsupported(`${path}.protocol`, protocol, PROTOCOLS));
  if (isAbsent(port, 'appProtocol')) return errors;
  return [...errors, ...invalidFor(`${path}.appProtocol`, application, qualifiedNameFaults(application))];
}
