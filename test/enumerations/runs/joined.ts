/** Reference runs of what joins clusters: failover, federated Services and imports. */
import type { Run, Step } from '../run.ts';
import { FEDERATED, type Users } from '../users.ts';

const failoverRun: Run = {
  name: 'failover',
  steps: [
    {
      name: 'link',
      act: (users) => {
        users.link('west');
        users.service('west', 'web');
        users.pods('west', 'web', '-', '-');
        users.service('source', 'web');
        users.pods('source', 'web', '-');
        // Who starts and finds no ServiceFailover waits for ten minutes (J1).
        users.service('source', 'other');
        users.failover('other', { service: 'other', backends: [{ service: 'other' }] });
      },
    },
    {
      name: 'mirror first',
      act: (users) =>
        users.failover('web', {
          service: 'web',
          backends: [{ service: 'web-west' }, { service: 'web' }],
          holdDown: '3s',
        }),
    },
    { name: 'no pod there', act: (users) => users.pods('west', 'web', '!-') },
    { name: 'pods there', act: (users) => users.pods('west', 'web', '-', '-') },
    { name: 'gateway dead', act: (_, scene) => void (scene.alive.west = false) },
    { name: 'gateway alive', act: (_, scene) => void (scene.alive.west = true) },
    {
      name: 'more than there are',
      act: (users) =>
        users.edit(users.failoverOf('web'), { backends: [{ service: 'web-west', minReady: 3 }, { service: 'web' }] }),
    },
    { name: 'another port', act: (users) => users.ports('source', 'web', 1) },
    {
      name: 'delete',
      act: (users) => users.remove('source', 'ServiceFailover', 'web', 'shop', 'linkspan.dev/v1alpha1'),
    },
  ],
};

const members = (users: Users, kind: 'clusterIP' | 'headless' = 'clusterIP'): void => {
  for (const target of ['west', 'bar'] as const) {
    users.service(target, 'web', { member: true, exported: 'none', kind });
    users.pods(target, 'web', '-');
  }
};

const federateRun = (federation: 'gateway' | 'flat'): Run => ({
  name: `federate, ${federation}`,
  steps: [
    {
      name: 'link',
      act: (users) => {
        users.discover();
        users.link('west', { federation, ...FEDERATED });
        users.link('bar', { federation, ...FEDERATED });
      },
    },
    { name: 'two members', act: (users) => members(users) },
    {
      name: 'one here',
      act: (users) => {
        users.service('source', 'web', { member: true });
        users.pods('source', 'web', '-');
      },
    },
    { name: 'one without pods', act: (users) => users.pods('west', 'web') },
    { name: 'one leaves', act: (users) => users.service('west', 'web', { exported: 'none' }) },
    { name: 'a Link goes', act: (users) => users.unlink('bar') },
    { name: 'nobody is left', act: (users) => users.remove('source', 'Service', 'web') },
  ],
});

/** Who starts and finds no ServiceExport in a cluster waits for ten minutes (K5). */
const exportOthers = (users: Users): void => {
  for (const cluster of ['source', 'west', 'bar'] as const) users.exportService(cluster, 'other');
};

const importRun: Run = {
  name: 'import',
  steps: [
    {
      name: 'link',
      act: (users) => {
        users.claimIds();
        exportOthers(users);
        users.link('west');
        users.link('bar');
      },
    },
    {
      name: 'one exports',
      act: (users) => {
        users.service('west', 'web', { exported: 'none' });
        users.pods('west', 'web', '-');
        users.exportService('west', 'web');
      },
    },
    {
      name: 'another one',
      act: (users) => {
        users.service('bar', 'web', { exported: 'none' });
        users.pods('bar', 'web', '-');
        users.exportService('bar', 'web');
      },
    },
    {
      name: 'this one',
      act: (users) => {
        users.service('source', 'web');
        users.pods('source', 'web', '-');
        users.exportService('source', 'web');
      },
    },
    { name: 'ports', act: (users) => users.ports('west', 'web', 1) },
    { name: 'one takes it back', act: (users) => users.unexportService('west', 'web') },
    { name: 'one deletes its Service', act: (users) => users.remove('bar', 'Service', 'web') },
    { name: 'this one takes it back', act: (users) => users.unexportService('source', 'web') },
  ],
};

const LINK_SET: Step = {
  name: 'link',
  act: (users) => {
    users.claimIds();
    exportOthers(users);
    users.link('west');
    users.service('west', 'db', { kind: 'headless', exported: 'none' });
    users.pods('west', 'db', 'db-0', 'db-1');
    users.exportService('west', 'db');
  },
};

const headlessImportRun: Run = {
  name: 'import, headless',
  steps: [
    LINK_SET,
    { name: 'down', act: (users) => users.pods('west', 'db', 'db-1') },
    { name: 'take back', act: (users) => users.unexportService('west', 'db') },
  ],
};

const renewedImportRun: Run = {
  name: 'import, a pod made anew',
  setting: { flags: { endpointMirrorGrace: '20s' } },
  steps: [
    LINK_SET,
    {
      name: 'gone and back',
      act: (users, { world }) => {
        users.pods('west', 'db', 'db-0');
        world.after(world.users, 5_000, () => users.pods('west', 'db', 'db-0', 'db-1'));
      },
    },
  ],
};

const conflictRun: Run = {
  name: 'import, conflict',
  // All goes at once with the last export. Who starts amidst it keeps a ServiceImport whole until it knows that the Link is gone.
  mayFlap: /^Service shop\/web-clusterset$/,
  steps: [
    {
      name: 'one exports',
      act: (users) => {
        users.claimIds();
        exportOthers(users);
        users.link('west');
        users.link('bar');
        users.service('west', 'web', { exported: 'none' });
        users.pods('west', 'web', '-');
        users.exportService('west', 'web');
      },
    },
    {
      name: 'another one otherwise',
      act: (users) => {
        users.service('bar', 'web', { exported: 'none', ports: 3 });
        users.pods('bar', 'web', '-');
        users.exportService('bar', 'web', { exportedLabels: { tier: 'gold' } });
      },
      // The older export decides.
      hasPast: true,
    },
    { name: 'of one mind', act: (users) => users.ports('bar', 'web', 0), hasPast: true },
    { name: 'the first goes', act: (users) => users.unexportService('west', 'web') },
    { name: 'the Link goes', act: (users) => users.unlink('bar') },
  ],
};

export const joinedRuns: readonly Run[] = [
  ...[
    failoverRun,
    federateRun('gateway'),
    federateRun('flat'),
    importRun,
    headlessImportRun,
    renewedImportRun,
    conflictRun,
  ],
];
