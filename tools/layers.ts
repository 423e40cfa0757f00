/** The folders below src/, and which others each may import. Whatever is not listed may not be imported. */
export function mayImport(from: Place, to: Place): boolean {
  if (from.layer === to.layer) return true;
  if (from.layer === 'cli') return true;
  const below = isCapability(from.layer) ? belowCapability : belowLayer[from.layer];
  if (below === undefined) return false;
  if (below.includes(to.layer)) return true;
  if (from.layer === 'agent') return isCapability(to.layer);
  // Only what runs on a host touches its kernel.
  return to.layer === 'linux' && from.onHost && (isCapability(from.layer) || from.layer === 'liveness');
}

/** What a folder may import, for people. */
export function allowedTo({ layer, onHost }: Place): string {
  const below = isCapability(layer) ? belowCapability : (belowLayer[layer] ?? []);
  const onHosts = onHost && (isCapability(layer) || layer === 'liveness') ? ['linux'] : [];
  const capabilities = layer === 'agent' ? ['the capabilities'] : [];
  return ['itself', ...capabilities, ...onHosts, ...below].join(', ');
}

export interface Place {
  /** The folder right below src/. */
  readonly layer: string;
  /** Whether it is the side of a capability that runs on a host: its folder host/. */
  readonly onHost: boolean;
}

/** @param file its path, relative to the root of the project */
export function placeOf(file: string): Place | undefined {
  const [src, layer, ...rest] = file.split('/');
  return src === 'src' && layer !== undefined && rest.length > 0
    ? { layer, onHost: rest[0] === 'host' && rest.length > 1 }
    : undefined;
}

/** Tests, and what only tests use: never shipped. */
export function isForTests(file: string): boolean {
  return /\.(test|fixture)\.ts$|\/testing\//.test(file);
}

export function isCapability(layer: string): boolean {
  return capabilities.includes(layer);
}

export function isKnownLayer(layer: string): boolean {
  return layer === 'cli' || isCapability(layer) || Object.hasOwn(belowLayer, layer);
}

export const capabilities = [
  'ipam',
  'dns',
  'vips',
  'hostnet',
  'attachments',
  'pods',
  'services',
  'exposure',
  'access',
  'vnet',
  'routes',
  'dataplane',
  'machines',
];

const belowCapability = ['ledger', 'liveness', 'runtime', 'api'];

const belowLayer: Readonly<Record<string, readonly string[]>> = {
  api: [],
  runtime: ['api'],
  ledger: ['runtime', 'api'],
  liveness: ['runtime', 'api'],
  linux: ['runtime', 'api'],
  engine: ['runtime', 'api'],
  agent: ['linux', 'ledger', 'liveness', 'runtime', 'api'],
  lab: ['agent', 'linux', 'runtime', 'api'],
};
