import type { Environment } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  qualifiedNameFaults,
} from '../../../../api/syntax.ts';
import { formatCheck } from '../../formats.ts';
import { meter } from '../meter.ts';
import { definer, namespace } from './define.ts';

/** `format.dns1123Label().validate(text)`: the spelling rules of Kubernetes by name. */
export function registerNamedFormats(env: Environment): void {
  env.registerType('kubernetes.NamedFormat', NamedFormat);
  const define = definer(env);
  const format = namespace(env, 'format');
  env.registerOperator('kubernetes.NamedFormat == kubernetes.NamedFormat', (a: NamedFormat, b: NamedFormat) => a === b);
  define(`${format}.named(string): optional<kubernetes.NamedFormat>`, (_: unknown, name: string) =>
    Optional.of(FORMATS.get(name)),
  );
  for (const [name, each] of FORMATS) define(`${format}.${name}(): kubernetes.NamedFormat`, () => each);
  define('kubernetes.NamedFormat.validate(string): optional<list<string>>', (each: NamedFormat, text: string) => {
    meter.charge(text.length);
    const faults = each.faults(text);
    return faults.length === 0 ? Optional.none() : Optional.of(faults);
  });
}

class NamedFormat {
  readonly faults: (text: string) => string[];
  constructor(faults: (text: string) => string[]) {
    this.faults = faults;
  }
}

/** A prefix may end in a dash, where the rest of the name goes on. */
const prefix = (faults: (text: string) => string[]) => (text: string) =>
  faults(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
const schemaFormat = (name: string, fault: string) => (text: string) => (formatCheck(name)?.(text) ? [] : [fault]);

const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  Object.entries({
    dns1123Label: dnsLabelFaults,
    dns1123Subdomain: dnsSubdomainFaults,
    dns1035Label: dns1035LabelFaults,
    qualifiedName: qualifiedNameFaults,
    dns1123LabelPrefix: prefix(dnsLabelFaults),
    dns1123SubdomainPrefix: prefix(dnsSubdomainFaults),
    dns1035LabelPrefix: prefix(dns1035LabelFaults),
    labelValue: labelValueFaults,
    uri: schemaFormat('uri', 'is neither an absolute URI nor an absolute path'),
    uuid: schemaFormat('uuid', 'does not match the UUID format'),
    byte: schemaFormat('byte', 'invalid base64'),
    date: schemaFormat('date', 'invalid date'),
    datetime: schemaFormat('date-time', 'invalid datetime'),
  }).map(([name, faults]) => [name, new NamedFormat(faults)]),
);
