import type { DNSMasqOption } from '../api/network.openstack.org/dnsmasq.ts';

/** As lines of a configuration file: `key=value,value`, or `key` alone. */
export const optionLines = (options: readonly DNSMasqOption[]): string =>
  options.map((option) => `${written(option)}\n`).join('');

/** As words of a container's command, where a dollar sign would begin a reference. */
export const optionArguments = (options: readonly DNSMasqOption[]): string[] =>
  options.map((option) => `--${written(option)}`.replaceAll('$', '$$$$'));

const written = ({ key, values }: DNSMasqOption): string =>
  values.length === 0 ? key : `${key}=${values.join(',').replaceAll(/[\r\n]/g, ' ')}`;
