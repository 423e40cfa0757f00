import type { Admission } from '../api/admission.ts';
import type { Controller } from '../runtime/controller.ts';
import { dnsData } from './dnsdata.controller.ts';
import { dnsMasqAdmission } from './dnsmasq.admission.ts';
import { type DNSMasqOptions, dnsMasqs } from './dnsmasq.controller.ts';
import { ipSetNames } from './ipset-names.controller.ts';
import { serviceNames } from './service-names.controller.ts';

export { dnsRights } from './rights.ts';

export type DnsOptions = Partial<DNSMasqOptions>;

export const dnsControllers = ({ helperImage = 'netloom' }: DnsOptions = {}): Controller[] => [
  dnsData(),
  dnsMasqs({ helperImage }),
  serviceNames(),
  ipSetNames(),
];

export const dnsAdmission: Admission[] = [dnsMasqAdmission];
