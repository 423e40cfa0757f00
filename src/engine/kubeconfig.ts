import { stringify } from 'yaml';

/** A kubeconfig that holds all it takes: address, authority and token, no paths to other files. */
export function kubeconfig({ server, authority, token }: { server: string; authority: string; token: string }): string {
  const name = 'netloom';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
