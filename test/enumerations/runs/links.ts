/** Reference runs of Links: their whole life, their credentials, their gateways, and who writes for them. */
import { mirrorName } from '../../../crds/wire.ts';
import { SUSPENDED } from '../../simulation/link-state.ts';
import { LINK } from '../kinds.ts';
import type { Run, Step } from '../run.ts';
import type { Users } from '../users.ts';

/** Two Services that the target exports, one of them with a pod that has a name. */
const exports = (users: Users): void => {
  users.service('west', 'web');
  users.pods('west', 'web', '-');
  users.service('west', 'db', { kind: 'headless' });
  users.pods('west', 'db', 'db-0');
};

export const HEADLESS = { enableHeadlessServices: true };

export const linked = { name: 'link', act: (users: Users): void => users.link('west', HEADLESS) };
export const exported = { name: 'export', act: exports };

const editRun: Run = {
  name: 'edit of a Link',
  steps: [
    exported,
    linked,
    { name: 'other gateway', act: (users) => users.editLink('west', { gatewayAddress: '203.0.113.99' }) },
    { name: 'other port of the gateway', act: (users) => users.editLink('west', { gatewayPort: '30143' }) },
    { name: 'other cluster name', act: (users) => users.editLink('west', { targetClusterName: 'far' }) },
    { name: 'selects nothing', act: (users) => users.editLink('west', { selector: {} }) },
  ],
};

const rotateRun: Run = {
  name: 'rotate',
  steps: [
    exported,
    linked,
    { name: 'new credentials', act: (users) => users.credentials('west') },
    {
      name: 'bad ones',
      act: (users) => users.credentials('west', 'unauthorized'),
      ...{ hasPast: true, forgets: 'nothing can be read with them' },
    },
    {
      name: 'one more Service meanwhile',
      act: (users) => users.service('west', 'late'),
      ...{ hasPast: true, forgets: 'nothing can be read with them' },
    },
    { name: 'good ones', act: (users) => users.credentials('west') },
  ],
};

const gatewayRun: Run = {
  name: 'gateway',
  steps: [
    exported,
    linked,
    { name: 'dead', act: (_, scene) => void (scene.alive.west = false), hasPast: true },
    { name: 'alive', act: (_, scene) => void (scene.alive.west = true) },
    { name: 'by name', act: (users) => users.editLink('west', { gatewayAddress: 'gateway.example' }) },
    {
      name: 'the name moves',
      act: (_, scene) => void (scene.names = { 'gateway.example': ['203.0.113.22'] }),
      // An address stays until five answers are without it (C2).
      ...{ restMs: 330_000, withinMs: 310_000 },
    },
  ],
};

const AWAY = { hasPast: true, forgets: 'the target cannot be read' } as const;

/** Endpoints stay without a Service of ours while the target cannot be read, and follow the gateway (C1, F3). */
const withoutServiceRun: Run = {
  name: 'endpoints without their Service',
  steps: [
    exported,
    linked,
    {
      name: 'the target is away, and the operator starts',
      act: (users, scene) => {
        users.in('west').goDown();
        scene.restart('stop');
      },
      ...AWAY,
    },
    {
      name: "the Service is somebody's own",
      act: (users) => {
        const { spec, metadata, ...service } = users.in('source').get('v1', 'Service', 'shop', 'web-west')!;
        users.in('source').put({ ...service, spec, metadata: { name: metadata.name, namespace: metadata.namespace } });
      },
      ...AWAY,
    },
    {
      name: 'other gateway',
      act: (users) => users.editLink('west', { gatewayAddress: '203.0.113.99' }),
      ...AWAY,
      shows: { 'Endpoints shop/web-west': '203.0.113.99' },
    },
    { name: 'the target is back', act: (users) => users.in('west').start(), hasPast: true, withinMs: 31_000 },
    { name: 'the name is free', act: (users) => users.remove('source', 'Service', 'web-west'), hasPast: true },
  ],
};

const takeOverRun: Run = {
  name: 'take-over',
  steps: [
    exported,
    {
      name: "Linkerd's controller has made a mirror",
      act: (users) => {
        users.link('west', HEADLESS, { annotations: { [SUSPENDED]: 'true' } });
        const [name, namespace] = [mirrorName('web', 'west'), 'shop'];
        const labels = {
          'mirror.linkerd.io/mirrored-service': 'true',
          'mirror.linkerd.io/cluster-name': 'west',
          'old.example.com/label': 'left',
        };
        const annotations = { 'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local' };
        const metadata = { name, namespace, labels, annotations };
        users.in('source').put({
          ...{ apiVersion: 'v1', kind: 'Service', metadata },
          spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }] },
        });
        users.in('source').put({
          ...{ apiVersion: 'v1', kind: 'Endpoints', metadata },
          subsets: [{ addresses: [{ ip: '203.0.113.1' }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
        });
      },
    },
    { name: 'taken over', act: (users) => users.annotateLink('west', SUSPENDED, undefined) },
    { name: 'given back', act: (users) => users.annotateLink('west', SUSPENDED, 'true'), hasPast: true },
    {
      name: 'it names another cluster',
      act: (users) => users.editLink('west', { targetClusterName: 'elsewhere' }),
      hasPast: true,
      untouched: /^(Service|Endpoints) shop\//,
    },
    { name: 'and its own again', act: (users) => users.editLink('west', { targetClusterName: 'west' }), hasPast: true },
    { name: 'taken again', act: (users) => users.annotateLink('west', SUSPENDED, undefined) },
  ],
};

const invalidRun: Run = {
  name: 'invalid for a while',
  steps: [
    exported,
    linked,
    {
      name: 'invalid',
      act: (users) => users.editLink('west', { gatewayPort: 'none' }),
      ...{ hasPast: true, forgets: 'it is not known what it was served by' },
    },
    { name: 'valid', act: (users) => users.editLink('west', { gatewayPort: '4143' }) },
  ],
};

const uninstallRun: Run = {
  name: 'uninstall',
  steps: [
    {
      name: 'two Links',
      act: (users) => {
        exports(users);
        users.service('bar', 'pay');
        users.link('west', HEADLESS);
        users.link('bar');
      },
    },
    { name: 'one goes', act: (users) => users.unlink('west') },
    {
      name: 'the other with its credentials',
      act: (users) => {
        users.unlink('bar');
        users.remove('source', 'Secret', 'cluster-credentials-bar', 'linkerd-multicluster');
      },
      // Who starts and finds no Link waits for ten minutes (ADR 13).
      restMs: 640_000,
    },
  ],
};

/** Whether it is one of the first twelve of those Services that are lost. */
const isOfDozen = ({
  kind,
  metadata,
}: {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}): boolean => kind === 'Service' && /^many-(\d|1[01])$/.test(metadata.name);

const confirmed: Step = {
  name: 'confirmed',
  act: (users) => {
    const { status } = users.linkOf('west') as { readonly status?: { readonly conditions?: readonly object[] } };
    const [, count] = /confirm-prune="([^"]+)"/.exec(JSON.stringify(status).replaceAll('\\"', '"')) ?? [];
    users.annotateLink('west', 'linkspan.dev/confirm-prune', count ?? 'nothing is held');
  },
  hasPast: true,
  // Without it, the loss is to be confirmed once more (E6).
  isRecordedBy: /^MODIFIED Lease .*\/service-mirror-write-west$/,
};

const guardRun: Run = {
  name: 'a loss that is held',
  steps: [
    linked,
    {
      name: 'a dozen, and a few',
      act: (users) => {
        for (let index = 0; index < 16; index += 1) users.service('west', `many-${index}`);
      },
    },
    {
      name: 'lost at once',
      act: (users) => users.in('west').faults.wipe(isOfDozen),
      ...{ hasPast: true, forgets: 'mirrors of what is not listed any more are not counted' },
    },
    {
      name: 'and then the few',
      act: (users) => users.in('west').faults.wipe(({ kind }) => kind === 'Service'),
      ...{ hasPast: true, forgets: 'mirrors of what is not listed any more are not counted' },
    },
    confirmed,
  ],
};

/** What is held then is of mirrors that the operator has not made itself. */
const unseenLossRun: Run = {
  name: 'a loss while nobody looks',
  steps: [
    linked,
    {
      name: 'a dozen',
      act: (users) => {
        for (let index = 0; index < 12; index += 1) users.service('west', `many-${index}`);
      },
    },
    {
      name: 'lost at once',
      act: (users, scene) => {
        scene.restart('kill');
        users.in('west').faults.wipe(({ kind }) => kind === 'Service');
      },
      hasPast: true,
    },
    confirmed,
  ],
};

/** Whether an object is a Link. */
export const isLink = ({ kind }: { readonly kind: string }): boolean => kind === LINK.kind;

export const linkRuns: readonly Run[] = [
  ...[
    editRun,
    rotateRun,
    gatewayRun,
    withoutServiceRun,
    takeOverRun,
    invalidRun,
    uninstallRun,
    guardRun,
    unseenLossRun,
  ],
];
