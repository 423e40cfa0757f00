import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { featuresIn, kernelFeatures } from './kernel-features.ts';

const configuration = 'CONFIG_VXLAN=y\n# CONFIG_VLAN_8021Q is not set\nCONFIG_NET_VRF=m\nCONFIG_BRIDGE="y"\n';

describe('what a kernel can do', () => {
  it('is what it was built with', () => {
    const features = featuresIn(configuration, true);
    assert.equal(features.get('vxlan'), true);
    assert.equal(features.get('vlan'), false);
    assert.equal(features.get('vrf'), true);
    assert.equal(features.get('bridge'), false);
  });

  it('counts modules only where they can be loaded', () => {
    assert.equal(featuresIn(configuration, false).get('vrf'), false);
    assert.equal(featuresIn(configuration, false).get('vxlan'), true);
  });

  it('is either said of everything or of nothing', async () => {
    const { size } = await kernelFeatures();
    assert.ok(size === 0 || size === featuresIn('', true).size);
  });
});
