import type { Service } from '../../../api/core/service.ts';

/**
 * Where Services are, in variables, as containers have known them since before there was DNS: those of the pod's own
 * namespace, unless it wants none, and always that of the API.
 */
export function serviceEnv(
  services: readonly Service[],
  namespace: string,
  enableServiceLinks: boolean,
): [name: string, value: string][] {
  const api = services.find(({ metadata }) => metadata.namespace === 'default' && metadata.name === 'kubernetes');
  const own = enableServiceLinks
    ? services.filter(({ metadata }) => metadata.namespace === namespace && metadata.name !== 'kubernetes')
    : [];
  const named = enableServiceLinks
    ? services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === 'kubernetes')
    : undefined;
  return [named ?? api, ...own].flatMap((service) => (service === undefined ? [] : variablesOf(service)));
}

function variablesOf({ metadata, spec }: Service): [string, string][] {
  const { clusterIP = '', ports = [] } = spec;
  const [first] = ports;
  if (clusterIP === '' || clusterIP === 'None' || first === undefined) return [];
  const name = variableName(metadata.name);
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  const urlOf = (port: number, protocol: string): string => `${protocol}://${host}:${port}`;
  return [
    [`${name}_SERVICE_HOST`, clusterIP],
    [`${name}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name: portName = '', port }): [string, string][] =>
      portName === '' ? [] : [[`${name}_SERVICE_PORT_${variableName(portName)}`, String(port)]],
    ),
    [`${name}_PORT`, urlOf(first.port, protocolOf(first))],
    ...ports.flatMap((entry): [string, string][] => {
      const protocol = protocolOf(entry);
      const prefix = `${name}_PORT_${entry.port}_${protocol.toUpperCase()}`;
      return [
        [prefix, urlOf(entry.port, protocol)],
        [`${prefix}_PROTO`, protocol],
        [`${prefix}_PORT`, String(entry.port)],
        [`${prefix}_ADDR`, clusterIP],
      ];
    }),
  ];
}

const variableName = (name: string): string => name.toUpperCase().replaceAll('-', '_');
const protocolOf = ({ protocol = 'TCP' }: { protocol?: string }): string => protocol.toLowerCase();
