import type { DNSMasq, DNSMasqOption } from '../api/network.openstack.org/dnsmasq.ts';

/**
 * What dnsmasq is told: what people wrote, and, where they say nothing of the kind, that names of Services which nobody has named
 * are answered here and now instead of being asked of others again and again. Admission writes it down for people to see, where
 * there is one.
 */
export function optionsOf({ metadata, spec: { options = [] } }: DNSMasq): readonly DNSMasqOption[] {
  const isSet = options.some(({ key }) => key === 'local');
  return isSet ? options : [...options, localServices(metadata.namespace ?? '')];
}

export const localServices = (namespace: string): DNSMasqOption => ({ key: 'local', values: [`/${namespace}.svc/`] });

/** As a configuration file has them: `key=value,value`, or `key` alone. Quotes and commas mean what they mean there. */
export const optionLines = (options: readonly DNSMasqOption[]): string =>
  options.map((option) => `${lineOf(option)}\n`).join('');

/** A value is never more than a part of its line. dnsmasq itself uses some of the control characters for marks of its own. */
const lineOf = ({ key, values }: DNSMasqOption): string =>
  values.length === 0 ? key : `${key}=${values.join(',').replaceAll(/\p{Cc}/gu, ' ')}`;

/** What dnsmasq would not refuse, and read as something else. */
export function optionsFault(options: readonly DNSMasqOption[]): string | undefined {
  const sizes = options.map((option) => Buffer.byteLength(lineOf(option)));
  const long = sizes.findIndex((size) => size > LONGEST_LINE);
  if (long >= 0) {
    return `spec.options[${long}]: it is ${sizes[long]} bytes long as a line of a configuration file, and dnsmasq reads ${LONGEST_LINE} at most: divide it into several options of the key ${options[long]?.key}`;
  }
  const total = sizes.reduce((sum, size) => sum + size + 1, 0);
  if (total <= LARGEST) return undefined;
  return `spec.options: they are ${total} bytes long together, and a pod can be told ${LARGEST} at most: hosts belong into a DNSData`;
}

/** Of what is longer, dnsmasq would take the rest for a line of its own. */
const LONGEST_LINE = 1023;
/** The kernel gives a program no variable that is larger than 128 KiB. */
const LARGEST = 120 * 1024;
