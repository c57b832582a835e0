/** What a check reads of an installation that is healthy, as values. A test changes what it is about. */
import { type LinkSettings, linkCrd, mcsCrds, readLink } from '../../../../crds/index.ts';
import { writeLeaseName } from '../../../../crds/wire.ts';
import type { Heartbeat } from '../../../../synth/commands/check/heartbeat.ts';
import type { Crd, Deployment, Pod } from '../../../../synth/commands/check/objects.ts';
import type { Read, Unread } from '../../../../synth/commands/check/reader.ts';
import { CHECKS } from '../../../../synth/commands/check/checks/index.ts';
import { runChecks } from '../../../../synth/commands/check/report.ts';
import type { LinkFacts, Survey } from '../../../../synth/commands/check/survey.ts';
import type { Target } from '../../../../synth/commands/check/target.ts';
import type { LinkObject } from '../../../../synth/commands/common/link-object.ts';
import type { LinkCondition } from '../../../../synth/commands/common/link-status.ts';
import { link, LINKS_NAMESPACE } from '../../../support/builders.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';
import { textOf } from './installed.ts';

export const read = <T>(value: T): Read<T> => ({ ok: true, value });
export const unread = (obstacle: Unread['obstacle'] = 'forbidden'): Unread => ({
  ok: false,
  what: 'list things',
  why: 'not allowed',
  obstacle,
});

/** The conditions that the operator reports, all well but for those that are given. */
export const conditions = (
  changed: Readonly<Record<string, Partial<Omit<LinkCondition, 'status'>> & { readonly status?: string }>> = {},
): ReadonlyMap<string, LinkCondition> =>
  new Map(
    [
      ['Ready', 'True'],
      ['Accepted', 'True'],
      ['CredentialsValid', 'True'],
      ['TargetReachable', 'True'],
      ['TargetWithinLimits', 'True'],
      ['GatewayResolved', 'True'],
      ['GatewayAlive', 'True'],
      ['Synced', 'True'],
      ['PruneHeld', 'False'],
    ].map(([type = '', status = '']) => [
      type,
      {
        type,
        status,
        reason: 'Reason',
        message: 'message',
        since: '',
        observedGeneration: 1,
        ...changed[type],
      } as LinkCondition,
    ]),
  );

const LINKERD = read({
  clusterDomain: 'cluster.local',
  trustDomain: 'cluster.local',
  anchors: ANCHOR,
  version: undefined,
});

export const target = (changed: Partial<Target> = {}): Target => ({
  server: 'https://west.example',
  version: read('v1.36.0'),
  rights: [],
  exportRights: [],
  linkerd: LINKERD,
  exports: read([]),
  members: read([]),
  gatewayNamespace: LINKS_NAMESPACE,
  gateway: read({
    service: {
      metadata: { name: 'linkerd-gateway', namespace: LINKS_NAMESPACE },
      spec: {
        ports: [
          { name: 'mc-gateway', port: 4143 },
          { name: 'mc-probe', port: 4191 },
        ],
      },
    },
    ready: 1,
  }),
  unread: [],
  ...changed,
});

export const linkFacts = (changed: Partial<LinkFacts> = {}): LinkFacts => {
  const object = { ...link('west'), metadata: { ...link('west').metadata, generation: 1 } } as LinkObject;
  const checked = readLink(object) as { readonly value: LinkSettings };
  return {
    title: `Link ${LINKS_NAMESPACE}/west`,
    name: 'west',
    namespace: LINKS_NAMESPACE,
    object,
    cluster: 'west',
    settings: checked.value,
    errors: [],
    conditions: conditions(),
    secretName: 'cluster-credentials-west',
    credentials: read({ ok: true, access: {} as never, text: '' }),
    target: target(),
    destination: read(undefined),
    destinationAccess: undefined,
    ...changed,
  };
};

export const heartbeat = (name: string, holder: string, isAlive = true): Heartbeat => ({
  lease: { metadata: { name, namespace: LINKS_NAMESPACE }, spec: { holderIdentity: holder, leaseDurationSeconds: 15 } },
  holder,
  isAlive,
});

export const operatorDeployment = (changed: Partial<Deployment> = {}): Deployment => ({
  metadata: { name: 'linkspan-operator', namespace: LINKS_NAMESPACE },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'operator' } },
    template: { spec: { containers: [{ name: 'controller', image: 'linkspan:0.1.0' }] } },
  },
  status: { availableReplicas: 2 },
  ...changed,
});

export const pod = (name: string, changed: Partial<Pod> = {}): Pod => ({
  metadata: { name, namespace: LINKS_NAMESPACE, labels: { app: 'operator' } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
  ...changed,
});

/** The CRDs of the MCS API, as they are installed. */
export const MCS_CRDS = mcsCrds as unknown as readonly Crd[];

const LEADER = 'linkspan-operator-a';

/** A survey of an installation that is healthy. */
export const facts = (changed: Partial<Survey> = {}, ...links: readonly LinkFacts[]): Survey => {
  const all = links.length === 0 ? [linkFacts()] : links;
  const beats = [
    heartbeat('linkspan-operator', LEADER),
    ...all.map(({ name }) => heartbeat(writeLeaseName(name), LEADER)),
  ];
  return {
    context: 'east',
    namespace: LINKS_NAMESPACE,
    linkerdNamespace: 'linkerd',
    link: undefined,
    version: '0.1.0',
    now: new Date('2026-11-22T00:00:00Z'),
    server: 'https://east.example',
    kubernetes: read('v1.36.0'),
    unread: [],
    extensionNamespace: read({ metadata: { name: LINKS_NAMESPACE } }),
    linkerd: LINKERD,
    crd: read({
      ...(linkCrd as unknown as Crd),
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    }),
    gatewayAccess: undefined,
    servesFailovers: true,
    mcs: read({ isServed: true, crds: new Map(MCS_CRDS.map((crd) => [crd.metadata.name, crd])) }),
    serviceImports: read([]),
    serviceExports: read([]),
    failovers: read([]),
    links: read(all),
    allLinks: read(all.map(({ object }) => object)),
    areLinksOfAllNamespaces: true,
    deployments: read([operatorDeployment()]),
    pods: read([pod(LEADER), pod('linkspan-operator-b')]),
    heartbeats: read(new Map(beats.map((beat) => [beat.lease.metadata.name, beat]))),
    operatorRights: read([]),
    mirrors: read([]),
    endpoints: read([]),
    slices: read([]),
    ...changed,
  };
};

/** All that is found: `id level object: reason`. */
export const found = (survey: Survey): readonly string[] => textOf(runChecks(CHECKS, survey));
