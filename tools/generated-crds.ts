import { stringify } from 'yaml';
import { customResourceDefinition } from '../src/api/crd.ts';
import { allKinds } from '../src/api/kinds.ts';
import type { GeneratedFolder } from './generated.ts';

/** The manifests with which a Kubernetes cluster learns the kinds of Netloom. */
export const customResourceDefinitions: GeneratedFolder = {
  folder: 'deploy/crds',
  files: () =>
    new Map(allKinds.map((kind) => [`${kind.group}_${kind.plural}.yaml`, manifest(customResourceDefinition(kind))])),
};

/** kubectl reads YAML 1.1, where the words yes and no, among others, need quotes to stay words. */
function manifest(content: object): string {
  const yaml = stringify(content, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
  return `# Generated from src/api by \`npm run generate\`.\n${yaml}`;
}
