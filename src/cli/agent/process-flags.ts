/**
 * Of Node.js, for an agent: it waits nearly all the time, so little memory counts more than the last bit of speed. With room for
 * young objects as usual, a hundred pods started at once leave 40 MiB behind that nobody needs any more. `bin/netloom` gives the
 * same ones.
 */
export const agentFlags = ['--max-semi-space-size=1', '--single-threaded', '--optimize-for-size'];
