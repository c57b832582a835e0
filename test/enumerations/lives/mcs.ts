/** The lives of what clusters say by the MCS API: exports of a target and of this cluster, and the id that one claims. */
import { clusterPropertyCrd, serviceExportCrd } from '../../../crds/index.ts';
import { CLUSTER_PROPERTY, SERVICE_EXPORT } from '../kinds.ts';
import type { Users } from '../users.ts';
import type { Life } from './life.ts';

const begin = (users: Users): void => {
  users.claimIds();
  users.link('west');
  for (const name of ['web', 'others']) {
    for (const cluster of ['west', 'source'] as const) {
      users.service(cluster, name, { exported: 'none' });
      users.pods(cluster, name, '-');
    }
  }
  users.exportService('west', 'others');
};

const exportLife = (at: 'west' | 'source'): Life => ({
  name: `ServiceExport of ${at === 'source' ? 'this cluster' : 'a target'}`,
  crd: serviceExportCrd,
  at,
  object: { ...SERVICE_EXPORT, namespace: 'shop', name: 'web' },
  spec: {},
  begin,
  samples: {
    'spec.exportedLabels': [{ tier: 'gold' }, { tier: 'silver', other: 'one' }],
    'spec.exportedAnnotations': [{ note: 'first' }, { note: 'second' }],
  },
  silent: { 'spec.exportedLabels={}': 'as absent', 'spec.exportedAnnotations={}': 'as absent' },
  isOfOthers: (id) => /others/.test(id),
});

const idLife = (at: 'west' | 'source', id: string): Life => ({
  name: `ClusterProperty of ${at === 'source' ? 'this cluster' : 'a target'}`,
  crd: clusterPropertyCrd,
  at,
  object: { ...CLUSTER_PROPERTY, name: 'cluster.clusterset.k8s.io' },
  spec: { value: id },
  begin: (users) => {
    begin(users);
    for (const cluster of ['west', 'source'] as const) users.exportService(cluster, 'web');
  },
  samples: { 'spec.value': ['another'] },
  silent: {},
  isOfOthers: (id) => /^Link|probe/.test(id),
});

export const mcsLives: readonly Life[] = [
  exportLife('west'),
  exportLife('source'),
  idLife('west', 'west'),
  idLife('source', 'here'),
];
