import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runToEnd, SetUpError, say } from './child.mjs';
import { root } from './place.mjs';

/**
 * Installs the Debian packages of the programs that a command starts and this machine lacks.
 * @param {string} user the command, or `test`
 */
export async function programs(user) {
  const missing = missingPrograms(user);
  if (missing.length === 0) return;

  const packages = [...new Set(missing.map((row) => row.debianPackage))].sort();
  const reasons = missing.map((row) => `${row.program} (package ${row.debianPackage}) ${row.reason}`).join('; ');
  const install = path.join(root, 'setup/install-debian-packages');
  if (!existsSync('/usr/bin/apt-get')) {
    throw new SetUpError(
      `programs are missing: ${reasons}. There is no apt-get here; install them in this system's own way`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new SetUpError(
      `programs are missing: ${reasons}. To install them, run: sudo ${install} ${packages.join(' ')}`,
    );
  }
  if (process.env['NETLOOM_NO_APT'] === '1') {
    throw new SetUpError(
      `programs are missing: ${reasons}. NETLOOM_NO_APT=1 forbids to install them; to do it by hand, run: ${install} ${packages.join(' ')}`,
    );
  }
  say(`installing Debian packages: ${packages.join(' ')}. Needed: ${reasons}`);
  const { code, output } = await runToEnd(install, packages, { stdio: ['ignore', 'pipe', 'pipe'] });
  if (code !== 0) {
    process.stderr.write(output);
    throw new SetUpError(`apt-get could not install ${packages.join(' ')}; its output is above`);
  }
  const still = missingPrograms(user);
  if (still.length > 0) {
    throw new SetUpError(
      `the packages are installed, and yet there is no ${still.map((row) => row.program).join(', ')} on the PATH`,
    );
  }
}

/**
 * @param {string} user
 * @returns {{ program: string, debianPackage: string, reason: string }[]}
 */
function missingPrograms(user) {
  const missing = [];
  for (const line of readFileSync(path.join(root, 'setup/programs.txt'), 'utf8').split('\n')) {
    const [program, debianPackage, users, ...reason] = line.trim().split(/\s+/);
    if (!program || program.startsWith('#') || !debianPackage || !users?.split(',').includes(user)) continue;
    if (!isOnPath(program)) missing.push({ program, debianPackage, reason: reason.join(' ') });
  }
  return missing;
}

/** @param {string} program */
function isOnPath(program) {
  // Debian keeps daemons in sbin, which is on root's PATH only.
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders.some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
