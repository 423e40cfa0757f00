import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

const RELEASE = 'v0.33.13';

/** Builds kubectl from its Go modules, once for all projects of this user, and answers where it is. */
export async function buildKubectl(): Promise<string> {
  const cache = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'netloom/bin');
  const built = path.join(cache, `kubectl-${RELEASE}`);
  if (existsSync(built)) return built;

  mkdirSync(cache, { recursive: true });
  console.log(`building kubectl from Go module k8s.io/kubectl@${RELEASE}, which takes some minutes the first time`);
  // Whoever comes at the same time waits for the lock, and then finds it built.
  const script = `test -x "$1" || { go build -trimpath -ldflags "$2" -o "$1.new" . && mv "$1.new" "$1"; }`;
  const args = [`${built}.lock`, 'sh', '-c', script, 'sh', built, linkerFlags()];
  const child = spawn('flock', args, {
    cwd: path.join(import.meta.dirname, 'module'),
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const [problems, code] = await Promise.all([text(child.stderr), ended]);
  if (code === 0) return built;
  throw new Error(
    code === 127
      ? 'the tests need kubectl 1.30 or later on the PATH, or Go 1.24 or later to build it'
      : `kubectl could not be built from its Go modules; install kubectl 1.30 or later instead. Go said:\n${problems}`,
  );
}

/** kubectl tells its version only when it was linked in. */
function linkerFlags(): string {
  const version = RELEASE.replace('v0.', 'v1.');
  const [major, minor] = version.slice(1).split('.');
  const flag = (name: string, value = '') => `-X k8s.io/component-base/version.${name}=${value}`;
  return ['-s -w', flag('gitVersion', version), flag('gitMajor', major), flag('gitMinor', minor)].join(' ');
}
