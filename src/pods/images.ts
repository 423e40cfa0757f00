import type { Container, PodSpec } from '../api/core/pod.ts';

/**
 * What a person has to know who brings a pod along as for Kubernetes: nothing is pulled. One sentence about all containers, as a list of
 * warnings is soon too long to be read.
 */
export function imageWarnings(spec: PodSpec, path: string): string[] {
  const containers = [
    ...(spec.initContainers ?? []).map((container, i) => ({ container, at: `${path}.initContainers[${i}]` })),
    ...spec.containers.map((container, i) => ({ container, at: `${path}.containers[${i}]` })),
  ];
  const withImage = containers.filter(({ container }) => (container.image ?? '') !== '');
  const idle = containers.filter(({ container }) => programOf(container) === undefined);
  const warnings: string[] = [];
  const [first] = withImage;
  if (first !== undefined) {
    const program = programOf(first.container);
    const runs = program === undefined ? 'commands' : JSON.stringify(program);
    const others = withImage.length === 1 ? '' : ` (and ${withImage.length - 1} more)`;
    warnings.push(`${first.at}.image${others}: the image is never pulled: the container runs the host's own ${runs}`);
  }
  if (idle.length > 0) {
    const named = idle.map(({ at }) => at).join(', ');
    warnings.push(`${named}: without "command" there is nothing to run: say which program of the host it is`);
  }
  return warnings;
}

const programOf = ({ command = [], args = [] }: Container): string | undefined => command[0] ?? args[0];
