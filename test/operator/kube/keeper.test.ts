import { describe, expect, it, test } from 'vitest';
import { keeperOf } from '../../../operator/kube/keeper.ts';
import type { Secret } from '../../../operator/kube/objects.ts';

const OURS = ['linkspan', 'linkspan-cli'];
const secret = (metadata: object): Secret => ({ metadata: { name: 'cluster-credentials-west', ...metadata } });
const writtenBy = (manager: string, fields: object = { 'f:data': { 'f:kubeconfig': {} } }): Secret =>
  secret({ managedFields: [{ manager, fieldsV1: fields }] });

describe('who keeps a Secret (P5)', () => {
  test.each(['kubectl', 'kubectl-client-side-apply', 'kubectl-edit', 'linkerd', 'linkspan', 'linkspan-cli'])(
    'is nobody if %s has written it',
    (manager) => {
      expect(keeperOf(writtenBy(manager), OURS)).toBeUndefined();
    },
  );

  it('is the controller that owns it', () => {
    const ownerReferences = [
      { kind: 'Namespace', name: 'x' },
      { kind: 'ExternalSecret', name: 'cluster-credentials-west', controller: true },
    ];
    expect(keeperOf(secret({ ownerReferences }), OURS)).toEqual({
      name: 'ExternalSecret cluster-credentials-west',
      isController: true,
    });
  });

  it('is the software that has set its data, but not who has set something else', () => {
    expect(keeperOf(writtenBy('argocd-controller'), OURS)).toEqual({ name: 'argocd-controller', isController: false });
    expect(keeperOf(writtenBy('labeller', { 'f:metadata': {} }), OURS)).toBeUndefined();
  });

  it('is Argo CD where that tracks it', () => {
    const annotations = { 'argocd.argoproj.io/tracking-id': 'app:/Secret:ns/name' };
    expect(keeperOf(secret({ annotations }), OURS)).toEqual({ name: 'Argo CD', isController: false });
  });
});
