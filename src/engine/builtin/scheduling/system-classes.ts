/** Names that nobody else may give to a class. */
export const SYSTEM_PREFIX = 'system-';

/** What people may give at most; the system keeps what is above for itself. */
export const HIGHEST_OF_USERS = 1_000_000_000;

/** The classes that are there from the start and stay. */
export const SYSTEM_CLASSES = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
] as const;
