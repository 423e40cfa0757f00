// npm run generate: writes what is derived from sources. With --check it only says what is no longer as derived.
import { generatedFolders, staleFiles, writeGenerated } from './generated.ts';

const check = process.argv.includes('--check');
for (const generated of generatedFolders) {
  for (const file of check ? staleFiles(generated) : writeGenerated(generated)) {
    console.log(check ? `${file} is stale; \`npm run generate\` brings it up to date` : `wrote ${file}`);
    if (check) process.exitCode = 1;
  }
}
