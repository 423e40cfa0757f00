import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EnvVar } from '../../../api/core/pod.ts';
import type { Service } from '../../../api/core/service.ts';
import { configMapWith, containerWith, podWith, secretWith, sourceFor } from '../pod.fixture.ts';
import { containerEnv, MissingSource } from './container-env.ts';
import { expanded, namesIn } from './expansion.ts';
import { serviceEnv } from './service-env.ts';

const settings = configMapWith('settings', { data: { mode: 'fast', 'log.level': 'debug' } });
const access = secretWith('access', { password: 'hunter2' });

function envOf(env: EnvVar[], extra = {}, pod = podWith()): Record<string, string> {
  const container = containerWith({ env, ...extra });
  return Object.fromEntries(containerEnv(sourceFor(pod, [settings, access]), container));
}

describe('the variables of a container', () => {
  test('refer to those before them, and to nothing else', () => {
    const env = envOf([
      { name: 'A', value: 'one' },
      { name: 'B', value: '$(A) and $(C), $$(A), $A' },
      { name: 'C', value: 'three' },
    ]);
    assert.equal(env['B'], 'one and $(C), $(A), $A');
    assert.equal(env['PATH'], '/bin');
  });

  test('come from whole objects first, with a prefix, and are replaced by its own', () => {
    const envFrom = [{ configMapRef: { name: 'settings' } }, { prefix: 'ACCESS_', secretRef: { name: 'access' } }];
    const env = envOf([{ name: 'mode', value: 'slow, not $(mode)' }], { envFrom });
    assert.equal(env['mode'], 'slow, not fast');
    assert.equal(env['ACCESS_password'], 'hunter2');
    assert.equal(env['log.level'], 'debug');
  });

  test('say what the pod is and may use', () => {
    const field = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const amount = (name: string, resource: string, divisor = '0'): EnvVar => ({
      name,
      valueFrom: { resourceFieldRef: { resource, divisor } },
    });
    const env = envOf(
      [
        field('NAME', 'metadata.name'),
        field('APP', "metadata.labels['app.io/name']"),
        field('NONE', "metadata.annotations['none']"),
        field('IP', 'status.podIP'),
        field('HOST', 'status.hostIP'),
        amount('CPU', 'limits.cpu'),
        amount('MILLIS', 'limits.cpu', '1m'),
        amount('MEMORY', 'limits.memory', '1Mi'),
        amount('ASKED', 'requests.memory'),
      ],
      { resources: { limits: { cpu: '1500m' } } },
      podWith({}, { labels: { 'app.io/name': 'shop' } }),
    );
    const { PATH: _, ...own } = env;
    assert.deepEqual(own, {
      NAME: 'web',
      APP: 'shop',
      NONE: '',
      IP: '10.244.7.3',
      HOST: '192.0.2.7',
      CPU: '2',
      MILLIS: '1500',
      MEMORY: '1024',
      ASKED: '0',
    });
  });

  for (const [what, env, message] of [
    ['object', { configMapKeyRef: { name: 'nowhere', key: 'mode' } }, 'configmap "nowhere" not found'],
    ['object', { secretKeyRef: { name: 'nowhere', key: 'mode' } }, 'secret "nowhere" not found'],
    [
      'key',
      { configMapKeyRef: { name: 'settings', key: 'none' } },
      "couldn't find key none in ConfigMap shop/settings",
    ],
    ['key', { secretKeyRef: { name: 'access', key: 'toString' } }, "couldn't find key toString in Secret shop/access"],
  ] as const) {
    test(`need their ${what}: ${message}`, () => {
      assert.throws(() => envOf([{ name: 'X', valueFrom: env }]), new MissingSource(message));
    });
  }

  test('are left out when what they are made of is optional and not there', () => {
    const optional = true;
    const env = envOf(
      [
        { name: 'X', valueFrom: { configMapKeyRef: { name: 'nowhere', key: 'mode', optional } } },
        { name: 'Y', valueFrom: { secretKeyRef: { name: 'access', key: 'none', optional } } },
      ],
      { envFrom: [{ configMapRef: { name: 'nowhere', optional } }, { secretRef: { name: 'nowhere', optional } }] },
    );
    assert.deepEqual(env, { PATH: '/bin' });
  });
});

describe('references in texts', () => {
  test('are what Kubernetes takes for one', () => {
    const known = new Map([['A', 'x']]);
    const expand = (text: string) => expanded(text, (name) => known.get(name));
    for (const [text, result] of [
      ['$(A)$(A)', 'xx'],
      ['$$(A)', '$(A)'],
      ['$$$(A)', '$x'],
      ['$(A', '$(A'],
      ['$()', '$()'],
      ['$', '$'],
      ['$$', '$'],
      ['a$b', 'a$b'],
    ]) {
      assert.equal(expand(text ?? ''), result);
    }
  });

  test('leave every text alone that has no dollar sign', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('$', '');
        assert.equal(
          expanded(plain, () => 'x'),
          plain,
        );
        assert.deepEqual(namesIn(plain), []);
      }),
    );
  });
});

describe('the addresses of Services', () => {
  const service = (
    namespace: string,
    name: string,
    clusterIP: string,
    ports: Service['spec']['ports'] = [],
  ): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...podWith().metadata, namespace, name },
    spec: { clusterIP, ports },
  });
  const api = service('default', 'kubernetes', '10.96.0.1', [{ name: 'https', port: 443 }]);
  const web = service('shop', 'web-shop', '10.96.0.10', [
    { name: 'http', port: 80 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ]);
  const others = [
    service('shop', 'headless', 'None', [{ port: 80 }]),
    service('elsewhere', 'web', '10.96.0.12', [{ port: 80 }]),
  ];

  test('are in variables, in all the ways that there have been', () => {
    const env = Object.fromEntries(serviceEnv([api, web, ...others], 'shop', true));
    assert.equal(env['KUBERNETES_SERVICE_HOST'], '10.96.0.1');
    assert.equal(env['KUBERNETES_SERVICE_PORT_HTTPS'], '443');
    assert.equal(env['WEB_SHOP_SERVICE_PORT_DNS'], '53');
    assert.equal(env['WEB_SHOP_PORT_53_UDP'], 'udp://10.96.0.10:53');
    assert.equal(env['WEB_SHOP_PORT_80_TCP_ADDR'], '10.96.0.10');
    assert.equal(
      Object.keys(env).some((name) => name.startsWith('HEADLESS') || name.startsWith('WEB_SERVICE')),
      false,
    );
  });

  test('are not where nobody wants them, but for that of the API', () => {
    const names = serviceEnv([api, web], 'shop', false).map(([name]) => name);
    assert.ok(names.includes('KUBERNETES_SERVICE_HOST'));
    assert.equal(
      names.some((name) => name.startsWith('WEB')),
      false,
    );
  });
});
