/**
 * Argo CD with self-heal beside a ServiceFailover: a team keeps it in Git, and the operator writes its status and the
 * route that it calls for. Once with Argo CD's own way to apply and compare, once with the API server's.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ArgoCd as ArgoCdConstruct } from '../../constructs/argo-cd/argo-cd.ts';
import { render, ServiceFailover } from '../../constructs/index.ts';
import { linkCrd } from '../../crds/index.ts';
import { failoverCrd } from '../../crds/failover/definition.ts';
import { FailoverApi, RouteApi } from '../../crds/wire.ts';
import { startCluster, type TestCluster } from '../cluster/index.ts';
import { type Api, api, eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  link,
  LINKS_NAMESPACE,
  namespace,
  objectRef,
  service,
  slice,
} from '../support/builders.ts';
import { TestGateway } from '../support/gateway.ts';
import { meshCrds } from '../support/mesh-crds.ts';
import { TestOperator } from '../support/operator.ts';
import { ARGOCD_NAMESPACE } from './application.ts';
import { ARGOCD_USER, ArgoCd } from './argocd.ts';
import { isApplied, isWrite, nameOf } from './audit.ts';
import { onArgoCd } from './available.ts';
import { IN_CLUSTER } from './gitops-repository.ts';
import { GitRepository } from './git-repository.ts';

/** Teams, each with a namespace and an Application of that name. */
const TEAMS = {
  plain: { syncOptions: [], annotations: {} },
  'server-side': {
    syncOptions: ['ServerSideApply=true'],
    annotations: { 'argocd.argoproj.io/compare-options': 'ServerSideDiff=true' },
  },
} as const;
type Team = keyof typeof TEAMS;
const NAMES = Object.keys(TEAMS) as readonly Team[];
const DEADLINE_MS = 60_000;
const TURNS = 5;

/** What a team has in Git. */
const manifests = (team: Team, backends: readonly string[] = ['web', 'web-west']): readonly object[] => [
  service('web', { namespace: team }),
  ...render((chart) => {
    new ServiceFailover(chart, 'failover', {
      service: 'web',
      namespace: team,
      backends: backends.map((service) => ({ service })),
      holdDown: '0s',
    });
  }),
];

onArgoCd('A ServiceFailover in Git', () => {
  let dir: string;
  let cluster: TestCluster;
  let target: TestCluster;
  let east: Api;
  let west: Api;
  let argocd: ArgoCd;
  let repository: GitRepository;
  let revision: string;
  const gateway = new TestGateway();
  let operator: TestOperator;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkspan-failover-'));
    [cluster, target] = await Promise.all([
      startCluster({
        backing: 'real',
        name: 'east',
        users: [ARGOCD_USER],
        // Argo CD deletes in the foreground.
        controllers: ['garbage-collector-controller'],
      }),
      startCluster({ backing: 'real', name: 'west' }),
    ]);
    [east, west] = [api(cluster), api(target)];
    for (const crd of [linkCrd, failoverCrd, ...HTTP_ROUTE]) await installCrd(cluster, crd);
    await gateway.revive();
    await east.apply(namespace(LINKS_NAMESPACE));
    await east.apply(credentials('west', target.kubeconfig));
    await east.apply(link('west'));
    for (const team of NAMES) {
      await Promise.all([east.apply(namespace(team)), west.apply(namespace(team))]);
      await west.apply(service('web', { namespace: team, labels: EXPORTED }));
      await west.apply(slice('web', { namespace: team }));
      await pods(team, true);
    }
    operator = new TestOperator(cluster.kubeconfigFile, gateway, {});
    argocd = await ArgoCd.start(cluster);
    const settings = objectRef('v1', 'ConfigMap', 'argocd-cm', ARGOCD_NAMESPACE);
    await east.patch(settings, { data: ArgoCdConstruct.customizations });
    repository = await GitRepository.init(join(dir, 'repository'));
    await commit('Fail over to west');
    await east.apply(PROJECT);
    for (const team of NAMES) await east.apply(application(team, repository.url));
    await argocd.settled(revision, ...NAMES);
  });
  afterAll(async () => {
    // What beforeAll did not come to is not there.
    await (operator as TestOperator | undefined)?.stop();
    await (argocd as ArgoCd | undefined)?.stop();
    await gateway.die();
    for (const each of [east, west]) await (each as Api | undefined)?.close();
    for (const each of [cluster, target]) await (each as TestCluster | undefined)?.stop();
    await rm(dir, { recursive: true });
  });

  /** Whether the pods of a team's Service in east are ready. */
  const pods = (team: Team, ready: boolean) =>
    east.apply(slice('web', { namespace: team, labels: {}, endpoints: [{ ready }] }));

  const commit = async (message: string, files = (team: Team) => manifests(team)): Promise<void> => {
    for (const team of NAMES) await repository.write(`${team}/web.yaml`, files(team));
    revision = await repository.commit(message);
  };

  /** Commits, and has Argo CD see it at once. */
  const change = async (...commitOf: Parameters<typeof commit>): Promise<void> => {
    await commit(...commitOf);
    for (const team of NAMES) await argocd.refresh(team);
  };

  const route = (team: Team) => east.get<Route>(objectRef(RouteApi.HTTPRoute, 'HTTPRoute', 'web-80', team));

  const leadsTo = (team: Team, backend: string): Promise<unknown> =>
    eventually(
      `requests of ${team} go to ${backend}`,
      async () => {
        const refs = (await route(team))?.spec.rules[0]?.backendRefs ?? [];
        const failover = await east.get<Failover>(failoverOf(team));
        return (
          refs.some(({ name, weight }) => name === backend && weight === 1) && failover?.status?.active === backend
        );
      },
      DEADLINE_MS,
    );

  /** Waits until Argo CD says this of the ServiceFailovers, which are Synced all the while. */
  const healthIs = async (status: string, message: string): Promise<void> => {
    for (const team of NAMES) {
      const found = await argocd.until(
        team,
        `says that the ServiceFailover is ${status}: ${message}`,
        ({ status: seen }) => {
          const health = seen?.resources?.find(({ kind }) => kind === FailoverApi.kind)?.health;
          return health?.status === status && (health.message ?? '').includes(message);
        },
      );
      expect(found.status?.resources?.find(({ kind }) => kind === FailoverApi.kind)?.status).toBe('Synced');
    }
  };

  test('J1: stays Synced while the operator moves requests to another cluster and back', async () => {
    const before = await Promise.all(NAMES.map(route));
    await cluster.clearAudit();
    const history = argocd.watch();
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [ready, backend] of [
        [false, 'web-west'],
        [true, 'web'],
      ] as const) {
        for (const team of NAMES) await pods(team, ready);
        for (const team of NAMES) await leadsTo(team, backend);
        await Promise.all(NAMES.map((team) => argocd.compare(team)));
      }
    }
    const states = await history.stop();
    for (const team of NAMES) expect([...(states.get(team) ?? [])], team).toEqual(['Synced']);
    const audit = await cluster.audit();
    expect(audit.filter(isApplied).map(nameOf)).toEqual([]);
    // What Argo CD had to bear.
    const written = audit.filter((entry) => isWrite(entry) && entry.userAgent.startsWith('linkspan-operator'));
    for (const team of NAMES) {
      for (const [resource, name] of [
        ['httproutes', 'web-80'],
        ['servicefailovers', 'web'],
      ]) {
        const writes = written.filter((each) => each.resource === resource && each.namespace === team);
        expect(writes.length, `${team}: ${resource}`).toBeGreaterThanOrEqual(2 * TURNS);
        expect(new Set(writes.map((each) => each.name))).toEqual(new Set([name]));
      }
    }
    const after = await Promise.all(NAMES.map(route));
    expect(after.map((each) => each?.metadata.uid)).toEqual(before.map((each) => each?.metadata.uid));
    await healthIs('Healthy', '');
  });

  test('is put right when it is changed by hand', async () => {
    const history = argocd.watch();
    for (const team of NAMES) await east.patch(failoverOf(team), { spec: { holdDown: '5s' } });
    for (const team of NAMES) {
      await eventually(
        `the ServiceFailover of ${team} is as in Git`,
        async () => (await east.get<Failover>(failoverOf(team)))?.spec.holdDown === '0s',
        DEADLINE_MS,
      );
    }
    await argocd.settled(revision, ...NAMES);
    // What the test before has looked for in vain.
    const states = await history.stop();
    for (const team of NAMES) expect([...(states.get(team) ?? [])]).toContain('OutOfSync, ServiceFailover web');
  });

  test('J4: is Degraded, with the reason, while a backend is missing, and Healthy again', async () => {
    await change('Have a third backend', (team) => manifests(team, ['web', 'web-west', 'web-south']));
    await healthIs('Degraded', 'web-south not found');
    await change('Have two backends');
    await healthIs('Healthy', '');
    await argocd.settled(revision, ...NAMES);
  });

  test('J1: its route goes with it, when it is taken out of Git', async () => {
    await change('Do without failover', (team) => manifests(team).slice(0, 1));
    for (const team of NAMES) {
      await eventually(`${team} has no route`, async () => (await route(team)) === undefined, DEADLINE_MS);
    }
    await argocd.settled(revision, ...NAMES);
  });
});

interface Route extends KubeObject {
  readonly spec: {
    readonly rules: readonly { readonly backendRefs: readonly { readonly name: string; readonly weight: number }[] }[];
  };
}

interface Failover extends KubeObject {
  readonly spec: { readonly holdDown: string };
  readonly status?: { readonly active?: string };
}

const HTTP_ROUTE = [...meshCrds].filter(({ metadata }) => metadata.name === `httproutes.${RouteApi.group}`);

const failoverOf = (team: Team): ObjectRef => objectRef(FailoverApi.apiVersion, FailoverApi.kind, 'web', team);

/** The project of all teams. */
const PROJECT = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'AppProject',
  metadata: { name: 'teams', namespace: ARGOCD_NAMESPACE },
  spec: { sourceRepos: ['*'], destinations: [{ server: IN_CLUSTER, namespace: '*' }] },
} as const;

/** The Application of a team, as it would write it itself. */
const application = (team: Team, repoURL: string): ObjectRef => {
  const { syncOptions, annotations } = TEAMS[team];
  const manifest = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: team, namespace: ARGOCD_NAMESPACE, annotations },
    spec: {
      project: PROJECT.metadata.name,
      source: { repoURL, targetRevision: 'main', path: team },
      destination: { server: IN_CLUSTER, namespace: team },
      syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions },
    },
  };
  return manifest;
};
