import { describe, expect, it } from 'vitest';
import { readCredentials, type SecretManifest } from '../../../../synth/commands/common/credentials-secret.ts';
import { TARGET_KUBECONFIG as TEXT } from '../../../support/kubeconfig.ts';

const TYPE = 'mirror.linkerd.io/remote-kubeconfig';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (rest: Omit<SecretManifest, 'metadata'>): SecretManifest => ({
  metadata: { name: 'cluster-credentials-west', namespace: 'linkerd-multicluster' },
  ...rest,
});

describe('the credentials of a Secret (rule E3)', () => {
  it.each([
    ['that a cluster has', secret({ type: TYPE, data: { kubeconfig: base64(TEXT) } })],
    [
      'that is a manifest',
      secret({ type: TYPE, data: { kubeconfig: base64('old') }, stringData: { kubeconfig: TEXT } }),
    ],
  ])('are read of one %s', (_, given) => {
    expect(readCredentials(given)).toMatchObject({ ok: true, text: TEXT });
  });

  it.each([
    ['that is not there', undefined, 'Secret', 'not found'],
    ['of another type', secret({ data: { kubeconfig: base64(TEXT) } }), 'Secret', `is of type Opaque, not ${TYPE}`],
    ['without the key', secret({ type: TYPE, data: {} }), 'Secret', 'has no data key kubeconfig'],
    ['with another text', secret({ type: TYPE, data: { kubeconfig: base64('s3cret') } }), 'kubeconfig', 'kubeconfig'],
  ])('are not read of one %s', (_, given, within, reason) => {
    const read = readCredentials(given);
    expect(read).toMatchObject({ ok: false, in: within, reason: expect.stringContaining(reason) as string });
    expect(JSON.stringify(read)).not.toContain('s3cret');
  });
});
