import type { ConfigMap, Secret } from '../../../api/core/config.ts';
import type { Container, EnvVar } from '../../../api/core/pod.ts';
import type { Service } from '../../../api/core/service.ts';
import { type DownwardSource, fieldValue, resourceValue } from './downward.ts';
import { expanded } from './expansion.ts';
import { serviceEnv } from './service-env.ts';

export interface EnvSource extends DownwardSource {
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  readonly services: readonly Service[];
  /** What every container has unless it says something else. */
  readonly defaults: readonly (readonly [name: string, value: string])[];
}

/** A variable cannot be had: what its source lacks, in the words of a kubelet. */
export class MissingSource extends Error {
  override readonly name = 'MissingSource';
}

/** The variables of a container: those made from whole objects first, then its own, each of which may refer to those before it. */
export function containerEnv(source: EnvSource, container: Container): [name: string, value: string][] {
  const { pod, services, defaults } = source;
  const links = serviceEnv(services, pod.metadata.namespace ?? '', pod.spec.enableServiceLinks !== false);
  const linked = new Map(links);
  const values = fromObjects(source, container);
  for (const variable of container.env ?? []) {
    const value = variableValue(source, container, variable, (name) => values.get(name) ?? linked.get(name));
    if (value !== undefined) values.set(variable.name, value);
  }
  const env = new Map([...defaults, ...links]);
  for (const [name, value] of values) env.set(name, value);
  return [...env];
}

function fromObjects(source: EnvSource, { envFrom = [] }: Container): Map<string, string> {
  const values = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const { name = '', optional = false } = configMapRef ?? secretRef ?? {};
    const data = configMapRef === undefined ? secretData(source.secret(name)) : configData(source.configMap(name));
    if (data === undefined && !optional) {
      throw new MissingSource(`${configMapRef === undefined ? 'secret' : 'configmap'} "${name}" not found`);
    }
    for (const [key, value] of Object.entries(data ?? {})) values.set(prefix + key, value);
  }
  return values;
}

/** Undefined when an optional source is not there. */
function variableValue(
  source: EnvSource,
  container: Container,
  { name, value, valueFrom }: EnvVar,
  known: (name: string) => string | undefined,
): string | undefined {
  if (valueFrom === undefined) return expanded(value ?? '', known);
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef !== undefined) {
    const found = fieldValue(source, fieldRef.fieldPath);
    if (found === undefined) throw new MissingSource(`env ${name}: unsupported fieldPath: ${fieldRef.fieldPath}`);
    return found;
  }
  if (resourceFieldRef !== undefined) {
    const found = resourceValue(source, container, resourceFieldRef);
    if (found === undefined) {
      throw new MissingSource(`env ${name}: unsupported container resource : ${resourceFieldRef.resource}`);
    }
    return found;
  }
  if (configMapKeyRef !== undefined) {
    return keyOf(source, 'ConfigMap', configMapKeyRef, configData(source.configMap(configMapKeyRef.name ?? '')));
  }
  if (secretKeyRef !== undefined) {
    return keyOf(source, 'Secret', secretKeyRef, secretData(source.secret(secretKeyRef.name ?? '')));
  }
  return '';
}

function keyOf(
  { pod }: EnvSource,
  kind: 'ConfigMap' | 'Secret',
  { name = '', key, optional = false }: { name?: string; key: string; optional?: boolean },
  data: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const value = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
  if (value !== undefined || optional) return value;
  if (data === undefined) throw new MissingSource(`${kind.toLowerCase()} "${name}" not found`);
  throw new MissingSource(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace ?? ''}/${name}`);
}

/** Undefined when there is no such object; without data it is empty. */
const configData = (found: ConfigMap | undefined): Record<string, string> | undefined => found && (found.data ?? {});

function secretData(found: Secret | undefined): Record<string, string> | undefined {
  if (found === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
