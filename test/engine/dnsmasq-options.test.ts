import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type DNSMasqOption, OPTION_KEYS } from '../../src/api/network.openstack.org/dnsmasq.ts';
import { HostsFolder } from '../../src/dns/helper/hosts-folder.ts';
import { DnsmasqInTest } from './dnsmasq-in-test.ts';
import { eventually } from './engine-in-test.ts';

/** One of each key, as dnsmasq describes it. */
const EVERY: Readonly<Record<(typeof OPTION_KEYS)[number], string[]>> = {
  server: ['/example.net/192.0.2.1#5353'],
  'rev-server': ['192.0.2.0/24', '192.0.2.1'],
  'srv-host': ['_sip._tcp.example.com', 'sip.example.com', '5060', '1', '2'],
  'txt-record': ['text.example.com', 'one', 'two'],
  'ptr-record': ['7.2.0.192.in-addr.arpa', 'seven.example.com'],
  'rebind-domain-ok': ['/example.com/'],
  'naptr-record': ['_sip._udp.example.com', '100', '10', 's', 'SIP+D2U', '"!^.*$!sip:info@example.com!"'],
  cname: ['alias.example.com', 'extra.example.com'],
  'host-record': ['extra.example.com', '192.0.2.7'],
  'caa-record': ['example.com', '0', 'issue', 'ca.example.com'],
  'dns-rr': ['odd.example.com', '51', '01:23:45'],
  'auth-zone': ['auth.example.com'],
  'synth-domain': ['pool.example.com', '192.0.2.64', '192.0.2.127', 'host-'],
  'no-negcache': [],
  local: ['/internal.example.com/'],
  'local-ttl': ['30'],
  'dhcp-ttl': ['30'],
  'max-ttl': ['300'],
};

describe('options of a DNSMasq, as a real dnsmasq takes them', () => {
  let dnsmasq: DnsmasqInTest;
  beforeEach(async () => {
    dnsmasq = await DnsmasqInTest.prepare();
    new HostsFolder(dnsmasq.folder).complete();
  });
  afterEach(() => dnsmasq.stop());

  const start = (...options: DNSMasqOption[]): string =>
    dnsmasq.start({ replicas: 1, dnsDataLabelSelectorValue: 'dnsdata', options });
  const becomes = (ask: () => Promise<string>, wanted: string): Promise<string> =>
    eventually(ask, (found) => found === wanted);

  test('are those that it knows, and what they say is answered', async () => {
    // The zones of an `auth-zone` are served by one that has an `auth-server`, which is no option of a DNSMasq.
    const keys = OPTION_KEYS.filter((key) => key !== 'auth-zone');
    assert.equal(start(...keys.map((key) => ({ key, values: EVERY[key] }))), '');
    await becomes(() => dnsmasq.answer('alias.example.com'), '192.0.2.7');
    await becomes(() => dnsmasq.answer('host-192-0-2-65.pool.example.com'), '192.0.2.65');
    await becomes(() => dnsmasq.reverse('192.0.2.7'), 'seven.example.com');
    await becomes(() => dnsmasq.texts('text.example.com'), 'one|two');
    assert.equal(await dnsmasq.answer('nobody.internal.example.com'), 'ENOTFOUND');
  });

  test('mean what they mean in its configuration file: what is in quotes is one, and a dollar sign is one', async () => {
    assert.equal(start({ key: 'txt-record', values: ['a.example.com', '"v=spf1 a, b $(POD_IP) $$ -all"'] }), '');
    await becomes(() => dnsmasq.texts('a.example.com'), 'v=spf1 a, b $(POD_IP) $$ -all');
  });

  test('never become another option, whatever is in a value', async () => {
    const hostile = 'a\naddress=/evil.example.com/192.0.2.66\r\u0000\u001baddress=/worse.example.com/192.0.2.66';
    assert.equal(start({ key: 'txt-record', values: ['text.example.com', hostile] }), '');
    await becomes(() => dnsmasq.texts('text.example.com'), hostile.replaceAll(/\p{Cc}/gu, ' '));
    assert.equal(await dnsmasq.answer('evil.example.com'), 'EREFUSED');
    assert.equal(await dnsmasq.answer('worse.example.com'), 'EREFUSED');
  });

  test('that it refuses are refused in its own words, with the line of the ConfigMap that people read', () => {
    const good: DNSMasqOption = { key: 'no-negcache', values: [] };
    assert.match(
      start(good, { key: 'cname', values: ['lonely'] }),
      /dnsmasq: bad CNAME at line 2 of .*\.spec\.options$/,
    );
  });

  test('leave names of Services here, where people say nothing else of local names', async () => {
    assert.equal(start({ key: 'server', values: ['127.0.0.1#1'] }), '');
    await becomes(() => dnsmasq.answer('nobody.default.svc'), 'ENOTFOUND');
  });

  test('make it ask others, whose answer for a host is forgotten when there is another one here', async () => {
    const upstream = await DnsmasqInTest.prepare();
    new HostsFolder(upstream.folder).complete();
    try {
      const spec = { replicas: 1, dnsDataLabelSelectorValue: 'dnsdata' };
      const away: DNSMasqOption = { key: 'host-record', values: ['moved.example.com', '192.0.2.7'] };
      assert.equal(upstream.start({ ...spec, options: [away, { key: 'local-ttl', values: ['300'] }] }), '');
      await becomes(() => upstream.answer('moved.example.com'), '192.0.2.7');
      assert.equal(start({ key: 'server', values: [`127.0.0.1#${upstream.port}`] }), '');
      await becomes(() => dnsmasq.answer('moved.example.com'), '192.0.2.7');
      new HostsFolder(dnsmasq.folder).show(new Map([['one', '10.0.0.1 moved.example.com\n']]));
      await becomes(() => dnsmasq.answer('moved.example.com'), '10.0.0.1');
    } finally {
      await upstream.stop();
    }
  });

  test('are those of before when something kills it, and it is back at once, however soon after the last time', async () => {
    assert.equal(start({ key: 'host-record', values: ['extra.example.com', '192.0.2.7'] }), '');
    for (let time = 0; time < 3; time += 1) {
      await becomes(() => dnsmasq.answer('extra.example.com'), '192.0.2.7');
      dnsmasq.killProgram();
    }
    await becomes(() => dnsmasq.answer('extra.example.com'), '192.0.2.7');
  });
});
