import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Node.js that runs Netloom itself; set-up alone runs on older ones. */
export const neededNode = 24;

export const root = path.resolve(fileURLToPath(import.meta.url), '../..');

export const nodeFolder = path.join(root, 'setup/node');

export const lockFile = path.join(root, 'package-lock.json');
export const nodeLockFile = path.join(nodeFolder, 'package-lock.json');

/**
 * What set-up leaves behind to know what it has done. The marks are inside node_modules: whatever removes the
 * packages removes the marks too. bin/netloom reads them without starting Node, so a change here is a change there.
 */
export const mark = {
  /** The lock file that the packages were installed from. */
  lock: path.join(root, 'node_modules/.netloom/package-lock.json'),
  /** The lock file that our own Node.js was installed from. */
  nodeLock: path.join(nodeFolder, 'node_modules/.netloom/package-lock.json'),
  /** `INODE PATH` of the Node.js to use. Ours is written as `- PATH`, relative to the root. */
  node: path.join(root, 'node_modules/.netloom/node'),
  /** There when the development packages are installed as well. */
  development: path.join(root, 'node_modules/.netloom/development'),
};

/** @param {{ development: boolean }} needs */
export function packagesAreFresh({ development }) {
  return sameContent(lockFile, mark.lock) && (!development || existsSync(mark.development));
}

/**
 * The Node.js that an earlier set-up chose, unless it is no longer what it was: its inode tells an
 * upgrade or downgrade in place, which leaves the path alone.
 * @returns {string | undefined}
 */
export function chosenNode() {
  const [inode, ...rest] = (contentOf(mark.node) ?? '').trim().split(' ');
  const chosen = path.resolve(root, rest.join(' '));
  if (rest.length === 0 || !existsSync(chosen)) return undefined;
  if (inode === '-') return ownNodeIsFresh() ? chosen : undefined;
  return String(statSync(chosen).ino) === inode ? chosen : undefined;
}

export function ownNodeIsFresh() {
  return sameContent(nodeLockFile, mark.nodeLock);
}

/** @param {string} one @param {string} other */
function sameContent(one, other) {
  const content = contentOf(one);
  return content !== undefined && content === contentOf(other);
}

/** @param {string} file */
function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
