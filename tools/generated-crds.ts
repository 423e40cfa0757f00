import { customResourceDefinition } from '../src/api/crd.ts';
import { allKinds } from '../src/api/kinds.ts';
import type { GeneratedFolder } from './generated.ts';
import { manifest } from './generated-manifest.ts';

/** The manifests with which a Kubernetes cluster learns the kinds of Netloom. */
export const customResourceDefinitions: GeneratedFolder = {
  folder: 'deploy/crds',
  files: () =>
    new Map(
      allKinds.map((kind) => [
        `${kind.group}_${kind.plural}.yaml`,
        manifest('src/api', customResourceDefinition(kind)),
      ]),
    ),
};
