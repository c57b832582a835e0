/** When the judge complains that a mirror goes although its Service has been exported throughout (rule E5). */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { KNOWN_MS, Lost } from './lost.ts';
import { MIRRORS } from './lost-mirrors.ts';
import { EXPORT_LABEL } from './target-users.ts';

const link: KubeObject = {
  ...{ apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link' },
  metadata: { namespace: 'linkerd-multicluster', name: 'bar' },
  spec: {
    targetClusterName: 'bar',
    selector: { matchLabels: { [EXPORT_LABEL]: 'true' } },
    remoteDiscoverySelector: { matchLabels: { [EXPORT_LABEL]: 'remote-discovery' } },
  },
};
const service: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { namespace: 'shop', name: 'web', uid: '1', labels: { [EXPORT_LABEL]: 'true' } },
  spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
};
const mirror = { id: '2', cluster: 'bar', key: 'shop/web' };

/** The complaints where a mirror is made and goes, and from when to when the Secret of its Link leads elsewhere. */
function complaints(astray: { readonly fromMs: number; readonly toMs: number }): readonly string[] {
  const complained: string[] = [];
  let nowMs = 0;
  const lost = new Lost({
    ...MIRRORS,
    ...{ nowMs: () => nowMs, complain: (what) => complained.push(what) },
    linkOf: (name) => (name === 'bar' ? link : undefined),
    isServed: () => true,
    isAstray: () => nowMs >= astray.fromMs && nowMs < astray.toMs,
  });
  const at = (ms: number): void => {
    nowMs = ms;
    lost.linksChanged();
  };
  at(0);
  lost.targetChanged('bar', { type: 'ADDED', object: service } as StorageEvent);
  at(1000);
  at(2000);
  nowMs = 2000 + KNOWN_MS / 2;
  lost.made(mirror, { isByUs: true });
  at(2000 + KNOWN_MS);
  lost.deleted(mirror, 'mirror shop/web-bar');
  return complained;
}

describe('a mirror (E5)', () => {
  it.each([
    ['never led elsewhere', { fromMs: Infinity, toMs: Infinity }, 1],
    ['leads elsewhere when it goes', { fromMs: 2000 + KNOWN_MS, toMs: Infinity }, 0],
    ['led elsewhere shortly before it was made', { fromMs: 1000, toMs: 2000 }, 0],
  ])('of a Link whose Secret %s is complained of %3$d times', (_, astray, times) => {
    expect(complaints(astray)).toHaveLength(times);
  });
});
