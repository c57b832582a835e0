import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { renewedKubeconfig } from '../../../../operator/target/renewal/renewed-kubeconfig.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../../cluster/certificate.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const CA = base64(CERTIFICATE);
const tokenOf = (name: string): string => `eyJhbGciOiJSUzI1NiJ9.${base64(name)}.c2lnbmF0dXJl`;

describe('a kubeconfig with a new token (P2)', () => {
  it('is what it was besides, also the certificate of a client that a proxy asks for (L290)', () => {
    const user = {
      'client-certificate-data': CA,
      'client-key-data': base64(PRIVATE_KEY),
      extensions: [{ name: 'note', extension: { by: 'kubectl' } }],
    };
    const kubeconfig = (token: string): object => ({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'west',
          cluster: { server: 'https://west:6443', 'certificate-authority-data': CA, 'tls-server-name': 'api.west' },
        },
      ],
      users: [{ name: 'mirror', user: { ...user, token } }],
      contexts: [{ name: 'west', context: { cluster: 'west', user: 'mirror', namespace: 'links' } }],
      'current-context': 'west',
    });
    const before = JSON.stringify(kubeconfig(tokenOf('old')));
    const renewed = renewedKubeconfig(before, { token: tokenOf('new'), publishedCa: undefined }, 0);
    expect(load(renewed.text)).toEqual(kubeconfig(tokenOf('new')));
    expect(renewed.access.tls).toMatchObject({ cert: CERTIFICATE, key: PRIVATE_KEY });
  });
});
