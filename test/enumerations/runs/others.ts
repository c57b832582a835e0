/** Reference runs beside what somebody else has made: it is left alone, and nothing of ours is put in its way. */
import { Annotation, Label } from '../../../crds/wire.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { putRoute, removeRoute } from '../../simulation/failover-users.ts';
import type { Run } from '../run.ts';
import { FEDERATED, type Users } from '../users.ts';

const [NAME, NAMESPACE] = ['pay-federated', 'shop'];
const SHAPE = { [Label.federation]: 'gateway' };

/** Puts a federated Service with one member. @param operator namespace of the one that serves it; undefined: nothing says which */
function putFederated(users: Users, federation: 'gateway' | 'flat', operator: string | undefined): void {
  const isFlat = federation === 'flat';
  const annotations = {
    ...(isFlat && { [Annotation.remoteDiscovery]: 'pay@elsewhere' }),
    ...(operator !== undefined && { [Annotation.operator]: operator }),
  };
  const labels = { [Label.mirroredService]: 'true', ...(!isFlat && SHAPE) };
  users.in('source').put({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: NAME, namespace: NAMESPACE, labels, annotations } },
    spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }] },
  });
  if (isFlat) return;
  users.in('source').put({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: {
      ...{ name: `${NAME}.elsewhere`, namespace: NAMESPACE },
      labels: { [Label.serviceName]: NAME, ...SHAPE, [Label.federationMember]: 'elsewhere' },
    },
    endpoints: [{ addresses: ['203.0.113.77'], conditions: { ready: true } }],
    ports: [{ name: 'http', port: 4143, protocol: 'TCP' }],
  });
}

/** A federated Service of a cluster that no Link of ours has ever had: another operator's, and one that says nobody's (I9). */
const anothersRun = (federation: 'gateway' | 'flat'): Run => {
  const untouched = /^(Service|EndpointSlice) shop\/pay-federated/;
  return {
    name: `federate, ${federation}, beside another operator`,
    steps: [
      {
        name: 'link',
        act: (users) => {
          users.discover();
          users.link('west', { federation, ...FEDERATED });
          users.link('bar', { federation, ...FEDERATED });
        },
      },
      { name: "another operator's", act: (users) => putFederated(users, federation, 'till'), untouched },
      { name: 'it does not say so', act: (users) => putFederated(users, federation, undefined), untouched },
      { name: 'a local one would join', act: (users) => users.service('source', 'pay', { member: true }), untouched },
      {
        name: 'ours beside it',
        act: (users) => {
          users.service('west', 'web', { member: true, exported: 'none' });
          users.pods('west', 'web', '-');
        },
        untouched,
      },
      { name: 'a Link goes', act: (users) => users.unlink('bar'), untouched },
    ],
  };
};

/** The Lease of a Link that a controller of Linkerd's holds for good, or gives up. */
function putLease(users: Users, holderIdentity: string): void {
  users.in('source').put({
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { name: 'service-mirror-write-west', namespace: LINKS_NAMESPACE },
    spec: { holderIdentity, leaseDurationSeconds: 1_000_000, leaseTransitions: 0 },
  });
}

/** A missing mark alone causes no write. */
const MARK = /: metadata\.annotations\.linkspan\.dev\/operator is undefined, not "[^"]+"$/;

/** A Link whose Lease a controller of Linkerd's still holds: what it selects says all the same whose a federated Service is (I9). */
const besideLinkerd: Run = {
  name: 'federate, gateway, beside Linkerd',
  steps: [
    {
      name: 'link',
      act: (users) => {
        putLease(users, 'linkerd-service-mirror-west');
        users.link('west', { federation: 'gateway', ...FEDERATED });
      },
    },
    {
      name: 'one that cannot join',
      act: (users) => users.service('west', 'web', { member: true, exported: 'none', kind: 'headless' }),
    },
    { name: 'one here', act: (users) => users.service('source', 'web', { member: true }), unread: { differs: MARK } },
    {
      name: 'it is not selected',
      act: (users) => users.editLink('west', { federatedServiceSelector: { matchLabels: { nobody: 'has-this' } } }),
    },
    { name: 'Linkerd goes', act: (users) => putLease(users, '') },
  ],
};

/** Somebody's routes that Linkerd prefers to those that ours would be, since they are older (J4). */
const preferredRun: Run = {
  name: 'failover, beside routes that are preferred',
  steps: [
    {
      name: 'theirs',
      act: (users) => {
        for (const name of ['web', 'pay', 'other']) users.service('source', name);
        // Who starts and finds no ServiceFailover waits for ten minutes (J1).
        users.failover('other', { service: 'other', backends: [{ service: 'other' }] });
        putRoute(users.in('source'), { namespace: 'shop', name: 'of-linkerd', kind: 'policy', parent: 'web' });
        putRoute(users.in('source'), { namespace: 'shop', name: 'of-users', kind: 'HTTPRoute', parent: 'pay' });
      },
    },
    {
      name: 'ours in vain',
      act: (users) => {
        for (const name of ['web', 'pay']) users.failover(name, { service: name, backends: [{ service: name }] });
      },
      untouched: /^HTTPRoute shop\/(web|pay)-/,
      // No kind that a ServiceFailover does without keeps it waiting, and what has been made goes on.
      unread: {
        resource: 'httproutes',
        differs: /HTTPRoute shop\/web-80 |^ServiceFailover shop\/web: status\.(active|backends\.0\.weight) /,
      },
    },
    {
      name: 'theirs go',
      act: (users) => {
        removeRoute(users.in('source'), { namespace: 'shop', name: 'of-linkerd', kind: 'policy' });
        removeRoute(users.in('source'), { namespace: 'shop', name: 'of-users', kind: 'HTTPRoute' });
      },
    },
  ],
};

export const runsBesideOthers: readonly Run[] = [
  anothersRun('gateway'),
  anothersRun('flat'),
  besideLinkerd,
  preferredRun,
];
