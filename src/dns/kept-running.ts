/**
 * The command of a container whose program is started again at once when something has ended it. Left to the kubelet, it would
 * be away for longer each time. And a pod of which one container is away is asked nothing, though the others could answer.
 *
 * @param program what runs, word by word
 * @param givesUpWhen a condition of the shell under which the container ends with its program, so that its pod says why;
 *   `$lived` are the seconds for which the program ran, `$end` is what it ended with
 * @param pause seconds until it is started again, which the shell may reckon
 */
export const keptRunning = (
  program: readonly string[],
  { givesUpWhen, pause }: { readonly givesUpWhen: string; readonly pause: string },
): string[] => ['sh', '-c', script(givesUpWhen, pause).replaceAll('$', '$$$$'), 'sh', ...program];

const script = (givesUpWhen: string, pause: string): string => `trap 'kill $child; wait $child; exit' TERM
while :; do
  began=$(date +%s)
  "$@" & child=$!
  wait $child; end=$?
  lived=$(($(date +%s) - began))
  if ${givesUpWhen}; then exit $end; fi
  echo "$1 has ended with exit code $end, and is started again" >&2
  sleep ${pause}
done`;
