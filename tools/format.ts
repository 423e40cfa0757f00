// npm run format: formats every file, and repairs what the linter can repair safely.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { root } from './source-files.ts';

const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
const { status } = spawnSync(process.execPath, [biome, 'check', '--write', '.'], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
