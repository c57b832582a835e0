import { describe, expect, it } from 'vitest';
import { Annotation } from '../../../../crds/wire.ts';
import type { Secret } from '../../../../operator/kube/objects.ts';
import { type AccessRead, accessServer } from '../../../../synth/commands/link/access-read.ts';
import {
  apiServerOf,
  apiServerProblem,
  authorityDoubt,
  leadsToItself,
} from '../../../../synth/commands/link/api-server.ts';
import type { Pair } from '../../../../synth/commands/link/pair.ts';
import { CERTIFICATE } from '../../../cluster/certificate.ts';
import { credentials } from '../../../support/builders.ts';
import { TARGET_KUBECONFIG } from '../../../support/kubeconfig.ts';

const reachedBy = (context: string, server: string) => ({ context, server, caData: 'Q0E=', tlsServerName: 'api' });

describe('the address of an API server', () => {
  it.each([
    ['https://127.0.0.1:6443', true],
    ['https://127.8.0.1', true],
    ['https://0.0.0.0:6443', true],
    ['https://[::1]:6443', true],
    ['https://localhost:6443', true],
    ['https://api.localhost', true],
    ['https://kubernetes.docker.internal:6443', true],
    ['https://192.0.2.7:6443', false],
    ['https://[2001:db8::1]', false],
    ['https://localhost.example.com', false],
  ])('%s leads to the machine that uses it: %s', (server, expected) => {
    expect(leadsToItself(server)).toBe(expected);
  });

  it.each([
    ['kind-west', 'for kind: --api-server-address https://west-control-plane:6443'],
    ['k3d-west', 'for k3d: --api-server-address https://k3d-west-server-0:6443'],
    ['west', 'name the address that they reach with --api-server-address'],
  ])('of %s that only this machine reaches is refused with the remedy', (context, remedy) => {
    const problem = apiServerProblem(
      reachedBy(context, 'https://127.0.0.1:6443'),
      'pods of east',
      '--api-server-address',
    );
    expect(problem).toEqual({
      object: `API server of ${context}`,
      reason: 'https://127.0.0.1:6443 leads to this machine, and pods of east cannot reach it',
      remedy,
    });
  });

  it('of the kubeconfig comes with its certificates, and another with the own ones of the cluster', () => {
    const given = reachedBy('west', 'https://192.0.2.7:6443');
    const { context: _, ...own } = given;
    expect(apiServerOf(given, undefined)).toEqual(own);
    expect(apiServerOf(given, 'https://192.0.2.7:6443')).toEqual(own);
    const other = { server: 'https://192.0.2.8:6443', caData: undefined, tlsServerName: undefined };
    expect(apiServerOf(given, 'https://192.0.2.8:6443')).toEqual(other);
  });

  describe('that only CAs of this machine prove', () => {
    const server = 'https://192.0.2.1:6443';
    const target = { isProvenByMachine: true, reachedBy: { ...reachedBy('west', server), caData: undefined } };
    const serverFor = (given: string | undefined, ca = { isProvenByMachine: true }) => {
      const secret = {
        ...credentials('west', TARGET_KUBECONFIG),
        metadata: { name: 'cluster-credentials-west', annotations: { [Annotation.targetClusterUid]: 'uid' } },
      } as unknown as Secret;
      const pair = { target: { ...target, ...ca }, targetUid: 'uid' } as unknown as Pair;
      return accessServer(pair, { held: { secret } } as unknown as AccessRead, given).apiServer;
    };

    it('is doubted, as its CA is not known', () => {
      const doubt = authorityDoubt(target, apiServerOf(target.reachedBy, undefined));
      expect(doubt).toContain(`the kubeconfig names no CA for ${server}`);
    });

    it('is taken with the CA that its credentials have', () => {
      for (const given of [undefined, server]) {
        const kept = serverFor(given);
        expect(kept.caData).toBe(Buffer.from(CERTIFICATE).toString('base64'));
        expect(authorityDoubt(target, kept)).toBeUndefined();
      }
    });

    it('differs from one that is not checked, and from another one, which have the own CA of the cluster', () => {
      const unchecked = { ...target, isProvenByMachine: false };
      expect(authorityDoubt(unchecked, apiServerOf(target.reachedBy, undefined))).toBeUndefined();
      expect(serverFor(undefined, unchecked).caData).toBeUndefined();
      expect(authorityDoubt(target, apiServerOf(target.reachedBy, 'https://192.0.2.8:6443'))).toBeUndefined();
    });
  });
});
