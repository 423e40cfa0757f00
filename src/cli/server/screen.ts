import packageFile from '../../../package.json' with { type: 'json' };

/** What a person sees who has just started Netloom: where everything is, and what to try. */
export function screen(about: {
  url: string;
  kubeconfig: string;
  directory: string;
  running: readonly string[];
  /** This machine as a node, or why it is none. */
  host: { readonly name: string } | { readonly reason: string };
}): string {
  const { url, kubeconfig, directory, running, host } = about;
  return `
  Netloom ${packageFile.version}

  API          ${url}
  kubeconfig   ${kubeconfig}
  data         ${directory}
  running      ${running.join(', ')}
  this host    ${'name' in host ? `node ${host.name}; pods run on when Netloom is stopped` : host.reason}

  Try next, in a second terminal:

    export KUBECONFIG=${kubeconfig}
    kubectl apply -f examples/ipam/
    kubectl get ipset edpm-compute-0 -o yaml${'name' in host ? CLOUD : ''}

  Without kubectl: bin/netloom apply -f examples/ipam/ and bin/netloom get ipset edpm-compute-0 -o yaml.
  Ctrl-C stops Netloom; what it stores stays.

ready ${url}`;
}

/** Only root can make labs. */
const CLOUD = `

  A cloud of hosts on this machine, and what runs on it:

    bin/netloom lab up examples/lab/cloud.yaml
    kubectl apply -f examples/web/ && kubectl get pods -o wide`;
