import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isMissingProgram, runToEnd, SetUpError, say } from './child.mjs';
import { alone } from './lock.mjs';
import {
  chosenNode,
  lockFile,
  mark,
  neededNode,
  nodeFolder,
  nodeLockFile,
  ownNodeIsFresh,
  packagesAreFresh,
  root,
} from './place.mjs';

/**
 * Makes the npm packages and a Node.js that is new enough available. A mark is removed before the work that it
 * stands for and written after it, so work that was cut short is done again.
 * @param {{ development: boolean }} needs
 * @returns {Promise<string>} the Node.js to run Netloom with
 */
export async function packages(needs) {
  const chosen = chosenNode();
  if (chosen !== undefined && packagesAreFresh(needs)) return chosen;
  await alone(async (lock) => {
    const work = [];
    // Whoever held the lock before may have done it all.
    if (!packagesAreFresh(needs)) work.push(installPackages(needs, lock));
    if (!machineNodeServes() && !ownNodeIsFresh()) work.push(installNode(lock));
    await allOf(work);
    chooseNode();
  });
  const node = chosenNode();
  if (node !== undefined) return node;
  throw new SetUpError('npm brought no usable Node.js; remove setup/node/node_modules and start again');
}

/** @param {{ development: boolean }} needs @param {number} lock */
async function installPackages(needs, lock) {
  // The first `npm start` installs only what running takes, a thirtieth of the whole. Packages that are already there
  // may be a developer's, and stay complete.
  const development = needs.development || existsSync(path.join(root, 'node_modules'));
  rmSync(path.dirname(mark.lock), { recursive: true, force: true });
  say(`installing npm packages${development ? ', those for development included' : ''}`);
  const installedFrom = readFileSync(lockFile);
  await npmInstall(root, [development ? '--include=dev' : '--omit=dev'], lock);
  if (development) write(mark.development, '');
  write(mark.lock, installedFrom);
}

/** @param {number} lock */
async function installNode(lock) {
  if (ownNode() === undefined) {
    throw new SetUpError(
      `Netloom needs Node.js ${neededNode} or later. This is ${process.version}, and npm has no newer one for ${process.platform}/${process.arch}: install one and start again`,
    );
  }
  say(`Node.js here is ${process.version}; fetching Node.js ${neededNode} from npm into setup/node (200 MB)`);
  rmSync(mark.nodeLock, { force: true });
  const installedFrom = readFileSync(nodeLockFile);
  await npmInstall(nodeFolder, [], lock);
  write(mark.nodeLock, installedFrom);
}

function chooseNode() {
  if (machineNodeServes()) {
    write(mark.node, `${statSync(process.execPath).ino} ${process.execPath}\n`);
  } else {
    write(mark.node, `- ${ownNode()}\n`);
  }
}

function machineNodeServes() {
  return Number.parseInt(process.versions.node, 10) >= neededNode;
}

/** Where our own Node.js is once it is installed, relative to the root. */
function ownNode() {
  const name = `node-${process.platform}-${process.arch}`;
  const offered = JSON.parse(readFileSync(path.join(nodeFolder, 'package.json'), 'utf8')).optionalDependencies;
  return Object.hasOwn(offered, name) ? `setup/node/node_modules/${name}/bin/node` : undefined;
}

/** @param {string} folder @param {string[]} options @param {number} lock */
async function npmInstall(folder, options, lock) {
  const args = ['ci', '--ignore-scripts', '--loglevel=error', '--no-engine-strict', '--prefer-offline', ...options];
  // Without a network npm would wait 70 seconds before it says so.
  const patience = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  const result = await runToEnd('npm', [...args, ...patience], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', lock],
  }).catch((error) => {
    if (!isMissingProgram(error)) throw error;
    throw new SetUpError('set-up needs npm, which is not on the PATH: install it (on Debian: apt-get install npm)');
  });
  if (result.code === 0) return;
  process.stderr.write(result.output);
  if (result.signal !== null) throw new SetUpError(`set-up was interrupted (${result.signal})`);
  const offline =
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|E?TIMEDOUT|ERR_SOCKET_TIMEOUT)\b/;
  throw new SetUpError(
    offline.test(result.output)
      ? 'npm cannot reach its registry. The first start needs it once: connect this machine, or name a mirror with `npm config set registry URL`, then start again'
      : `npm ci failed in ${folder}; its output is above`,
  );
}

/**
 * Waits for every promise, so that no npm is still writing when the first failure is reported.
 * @param {Promise<void>[]} work
 */
async function allOf(work) {
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** @param {string} file @param {string | Buffer} content */
function write(file, content) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}
