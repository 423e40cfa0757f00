import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults, dnsSubdomainFaults, labelValueFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { PROTOCOLS } from '../core/ports.ts';
import {
  duplicate,
  IMMUTABLE,
  invalidFor,
  invalidValue,
  oneOf,
  required,
  tooMany,
  unsupported,
} from '../field-errors.ts';
import { firstOfMany } from '../first-of-many.ts';
import { ipFamily, validateEndpointIp } from '../ip-text.ts';
import { validateLabels } from '../metadata.ts';
import {
  fillAbsent,
  isAbsent,
  membersAt,
  metadataOf,
  objectAt,
  objectsAt,
  optionalNumberAt,
  textAt,
  textsAt,
} from '../reading.ts';

export const endpointSlices = defineBuiltin({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('AddressType', { description: 'What the addresses are.' }, (slice) => textAt(slice, 'addressType')),
    column('Ports', { description: 'Ports of the endpoints.' }, ports),
    column('Endpoints', { description: 'Addresses of the endpoints.' }, (slice) =>
      firstOfMany(
        objectsAt(slice, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses')),
        '<unset>',
      ),
    ),
    ageColumn,
  ],
  hasGeneration: true,

  defaults(slice) {
    for (const port of membersAt(slice, 'ports')) {
      fillAbsent(port, 'name', '');
      fillAbsent(port, 'protocol', 'TCP');
    }
  },

  validate(slice, old) {
    const type = textAt(slice, 'addressType');
    const errors = oneOf('addressType', type, ADDRESS_TYPES);
    if (old !== undefined && type !== textAt(old, 'addressType')) {
      errors.push(invalidValue('addressType', type, IMMUTABLE));
    }
    return [...errors, ...validateEndpoints(slice, type), ...validatePorts(slice)];
  },

  generationChangesWith: (slice, old) => !equalJson(meant(slice), meant(old)),
});

/** What a slice says. Its labels name the service; the rest of its metadata says nothing. */
const meant = (slice: JsonObject): JsonObject => ({
  ...slice,
  metadata: { labels: metadataOf(slice)['labels'] ?? {} },
});

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MOST_ENDPOINTS = 1000;
const MOST_ADDRESSES = 100;
const MOST_PORTS = 20000;
const MOST_HINTS = 8;

function ports(slice: JsonObject): string {
  const texts = objectsAt(slice, 'ports').map((port) => {
    const number = optionalNumberAt(port, 'port');
    if (number !== undefined) return String(number);
    return isAbsent(port, 'name') ? '*' : textAt(port, 'name');
  });
  return firstOfMany(texts, '<unset>');
}

function validateEndpoints(slice: JsonObject, type: string): FieldError[] {
  const endpoints = objectsAt(slice, 'endpoints');
  if (endpoints.length > MOST_ENDPOINTS) return [tooMany('endpoints', endpoints.length, MOST_ENDPOINTS)];
  return endpoints.flatMap((endpoint, i) => validateEndpoint(endpoint, type, `endpoints[${i}]`));
}

function validateEndpoint(endpoint: JsonObject, type: string, path: string): FieldError[] {
  const addresses = textsAt(endpoint, 'addresses');
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(`${path}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > MOST_ADDRESSES) {
    errors.push(tooMany(`${path}.addresses`, addresses.length, MOST_ADDRESSES));
  }
  for (const [i, address] of addresses.entries()) {
    errors.push(...validateAddress(address, type, `${path}.addresses[${i}]`));
  }
  const hostname = textAt(endpoint, 'hostname');
  if (!isAbsent(endpoint, 'hostname'))
    errors.push(...invalidFor(`${path}.hostname`, hostname, dnsLabelFaults(hostname)));
  const node = textAt(endpoint, 'nodeName');
  if (!isAbsent(endpoint, 'nodeName')) errors.push(...invalidFor(`${path}.nodeName`, node, dnsSubdomainFaults(node)));
  errors.push(...validateLabels(endpoint['deprecatedTopology'], `${path}.deprecatedTopology`));
  return [...errors, ...validateHints(endpoint, `${path}.hints.forZones`)];
}

function validateAddress(address: string, type: string, path: string): FieldError[] {
  switch (type) {
    case 'IPv4':
      if (ipFamily(address) !== 4) return [invalidValue(path, address, 'must be a valid IPv4 address')];
      return validateEndpointIp(address, path);
    case 'IPv6':
      if (ipFamily(address) !== 6) return [invalidValue(path, address, 'must be a valid IPv6 address')];
      return validateEndpointIp(address, path);
    case 'FQDN':
      return validateDomain(address, path);
    default:
      return [];
  }
}

function validateDomain(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const bare = name.replace(/\.$/, '');
  const faults = dnsSubdomainFaults(bare);
  if (faults.length > 0) return invalidFor(path, bare, faults);
  const labels = bare.split('.');
  if (labels.length < 2) {
    return [invalidValue(path, bare, 'should be a domain with at least two segments separated by dots')];
  }
  return labels.flatMap((label) => invalidFor(path, label, dnsLabelFaults(label)));
}

function validateHints(endpoint: JsonObject, path: string): FieldError[] {
  const zones = objectsAt(objectAt(endpoint, 'hints'), 'forZones').map((zone) => textAt(zone, 'name'));
  if (zones.length > MOST_HINTS) return [tooMany(path, zones.length, MOST_HINTS)];
  const seen = new Set<string>();
  return zones.flatMap((zone, i) => {
    const errors = invalidFor(`${path}[${i}].name`, zone, labelValueFaults(zone));
    if (seen.has(zone)) errors.push(duplicate(`${path}[${i}].name`, zone));
    seen.add(zone);
    return errors;
  });
}

function validatePorts(slice: JsonObject): FieldError[] {
  const ports = objectsAt(slice, 'ports');
  if (ports.length > MOST_PORTS) return [tooMany('ports', ports.length, MOST_PORTS)];
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const path = `ports[${i}]`;
    const name = textAt(port, 'name');
    const protocol = textAt(port, 'protocol');
    const application = textAt(port, 'appProtocol');
    const errors = name === '' ? [] : invalidFor(`${path}.name`, name, dnsLabelFaults(name));
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    if (!PROTOCOLS.includes(protocol)) errors.push(unsupported(`${path}.protocol`, protocol, PROTOCOLS));
    if (!isAbsent(port, 'appProtocol')) {
      errors.push(...invalidFor(`${path}.appProtocol`, application, qualifiedNameFaults(application)));
    }
    return errors;
  });
}
