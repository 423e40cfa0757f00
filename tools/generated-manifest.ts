import { stringify } from 'yaml';

/** kubectl reads YAML 1.1, where the words yes and no, among others, need quotes to stay words. */
export function manifest(source: string, ...objects: readonly object[]): string {
  const yaml = objects.map((object) =>
    stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
  );
  return `# Generated from ${source} by \`npm run generate\`.\n${yaml.join('---\n')}`;
}
