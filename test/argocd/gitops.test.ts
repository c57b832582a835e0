/**
 * The gitops example on the real Argo CD, which runs on one of its three clusters: they come up from a commit, live with
 * an operator that writes beside Argo CD, and one of them goes by another commit.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiJson } from '../../constructs/rendered/render.ts';
import { SYNC_WAVE_ANNOTATION } from '../../constructs/argo-cd/sync-waves.ts';
import type { AuditEntry } from '../cluster/index.ts';
import { eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, LINKS_NAMESPACE, service } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { applyStrict } from '../support/strict.ts';
import type { Application } from './application.ts';
import { ArgoCd } from './argocd.ts';
import { isApplied, nameOf } from './audit.ts';
import { onArgoCd } from './available.ts';
import { Fleet, GATEWAYS, KUBELET, MEMBERS, type Member } from './fleet.ts';
import { type ClusterFile, GitOpsRepository } from './gitops-repository.ts';

/** Where Argo CD runs. */
const HUB: Member = 'east';
const ROOT = 'linkspan';
const LINK_API = 'multicluster.linkerd.io/v1alpha3';
const applicationOf = (member: Member): string => `${ROOT}-${member}`;
const APPLICATIONS = MEMBERS.map(applicationOf);
/** The clusters that stay when one goes. */
const LEFT = MEMBERS.filter((member) => member !== 'north');
const DEADLINE_MS = 120_000;
const SERVICES = 200;

/** The order that things are needed in; what is not named here is in between. */
const WAVES: Readonly<Record<string, number>> = {
  customresourcedefinitions: 0,
  namespaces: 0,
  serviceaccounts: 1,
  roles: 1,
  rolebindings: 1,
  clusterroles: 1,
  clusterrolebindings: 1,
  links: 3,
};
const waveOf = ({ resource }: AuditEntry): number => WAVES[resource] ?? 2;

const isApplication = (object: ObjectRef): object is Application => object.kind === 'Application';

onArgoCd('The gitops example', () => {
  let dir: string;
  let fleet: Fleet;
  let argocd: ArgoCd;
  let repository: GitOpsRepository;
  let revision: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkspan-gitops-'));
    fleet = await Fleet.start(dir);
    argocd = await ArgoCd.start(fleet.cluster(HUB));
    for (const member of MEMBERS) if (member !== HUB) await argocd.register(fleet.cluster(member));
    repository = await example('repository');
  });
  afterAll(async () => {
    // What beforeAll did not come to is not there.
    await (argocd as ArgoCd | undefined)?.stop();
    await (fleet as Fleet | undefined)?.stop();
    await rm(dir, { recursive: true });
  });

  const example = (folder: string): Promise<GitOpsRepository> =>
    GitOpsRepository.init(join(dir, folder), HUB, (name) => {
      const { server, caData } = fleet.cluster(name as Member);
      return { gatewayAddresses: [GATEWAYS[name as Member]], apiServer: { url: server, caData } };
    });

  const commit = async (message: string, change?: (file: ClusterFile) => ClusterFile): Promise<void> => {
    revision = await repository.commit(message, change);
    await Promise.all([ROOT, ...APPLICATIONS].map((name) => argocd.refresh(name)));
  };

  const compareAll = () => Promise.all(APPLICATIONS.map((name) => argocd.compare(name)));

  const mirrors = (source: Member, target: Member): Promise<readonly KubeObject[]> =>
    fleet.api(source).list({
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'shop',
      labelSelector: `mirror.linkerd.io/mirrored-service=true,mirror.linkerd.io/cluster-name=${target}`,
    });

  const hasMirrors = (source: Member, target: Member, count: number): Promise<unknown> =>
    eventually(
      `${source} has ${count} mirrors of ${target}`,
      async () => (await mirrors(source, target)).length === count,
      DEADLINE_MS,
    );

  /** Waits until Argo CD says this of a Link, which is Synced all the while. */
  const linkHealth = async (source: Member, target: Member, status: string, message = ''): Promise<void> => {
    const find = (application: Application) =>
      application.status?.resources?.find(({ kind, name }) => kind === 'Link' && name === target);
    const found = await argocd.until(
      applicationOf(source),
      `says that Link ${target} is ${status}: ${message}`,
      (application) => {
        const health = find(application)?.health;
        return health?.status === status && (health.message ?? '').includes(message);
      },
    );
    expect(find(found)?.status).toBe('Synced');
  };

  test('comes up on every cluster, wave after wave', async () => {
    revision = await repository.commit('Describe the clusters');
    // All else comes by the root.
    for (const object of await repository.objects('argocd')) {
      if (object.kind === 'AppProject' || object.metadata.name === ROOT) await fleet.api(HUB).apply(object);
    }
    await Promise.all([fleet.attend(...MEMBERS), argocd.settled(revision, ROOT, ...APPLICATIONS)]);

    for (const member of MEMBERS) {
      const audit = await fleet.cluster(member).audit();
      const applied = audit.filter(isApplied).filter(({ resource }) => resource !== 'events');
      const seen = new Set<string>();
      const first = applied.filter(({ resource, namespace, name }) => {
        const key = `${resource} ${namespace ?? ''}/${name ?? ''}`;
        return !seen.has(key) && seen.add(key);
      });
      const waves = first.map(waveOf);
      expect(waves, first.map(nameOf).join('\n')).toEqual(waves.toSorted());
      expect(new Set(waves)).toEqual(new Set([0, 1, 2, 3]));
      const beforeLinks = audit.slice(
        0,
        audit.findIndex((entry) => entry.resource === 'links' && isApplied(entry)),
      );
      const pods = beforeLinks.filter(({ resource, userAgent }) => resource === 'pods' && userAgent === KUBELET);
      // Two of the operator and three of the gateway: a wave begins when the one before is healthy.
      expect(new Set(pods.filter(({ subresource }) => subresource === 'status').map(nameOf)).size, member).toBe(5);
    }
  });

  test('has objects of Argo CD that are accepted to the last field', async () => {
    for (const object of await repository.objects('argocd')) {
      await applyStrict(fleet.api(HUB), object as ApiJson, { dryRun: 'All' });
    }
  });

  test('keeps Argo CD and the operator out of the way of each other, over 200 exports and unexports', async () => {
    await Promise.all(MEMBERS.map((member) => fleet.cluster(member).clearAudit()));
    const history = argocd.watch();
    const names = Array.from({ length: SERVICES }, (_, index) => `web-${index}`);
    await concurrently(names, 16, (name) =>
      // As if Argo CD had made them, and their mirrors.
      fleet.api('west').apply(
        service(name, {
          labels: { ...EXPORTED, 'app.kubernetes.io/instance': applicationOf('east') },
          annotations: { 'argocd.argoproj.io/tracking-id': `${applicationOf('east')}:/Service:shop/${name}-west` },
        }),
      ),
    );
    await compareAll();
    await hasMirrors('east', 'west', SERVICES);
    await hasMirrors('north', 'west', SERVICES);
    await compareAll();
    await concurrently(names, 16, (name) =>
      fleet.api('west').patch(service(name), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } }),
    );
    await compareAll();
    await hasMirrors('east', 'west', 0);
    await hasMirrors('north', 'west', 0);
    await compareAll();

    const states = await history.stop();
    for (const name of APPLICATIONS) expect([...(states.get(name) ?? [])], name).toEqual(['Synced']);
    for (const member of MEMBERS) {
      const applied = (await fleet.cluster(member).audit()).filter(isApplied);
      expect(applied.map(nameOf), member).toEqual([]);
    }
    await argocd.settled(revision, ROOT, ...APPLICATIONS);
  });

  test('puts right what is changed by hand', async () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'linkspan-operator', namespace: LINKS_NAMESPACE },
    };
    const replicas = async (): Promise<number | undefined> =>
      (await fleet.api('west').get<{ readonly spec: { readonly replicas: number } }>(deployment))?.spec.replicas;
    const wanted = await replicas();
    await fleet.cluster('west').clearAudit();
    const history = argocd.watch();
    await fleet.api('west').patch(deployment, { spec: { replicas: 5 } });
    await eventually('the replicas are as in Git', async () => (await replicas()) === wanted, DEADLINE_MS);
    await argocd.settled(revision, applicationOf('west'));
    // What the test before has looked for in vain.
    const states = (await history.stop()).get(applicationOf('west')) ?? [];
    expect([...states]).toEqual(expect.arrayContaining(['OutOfSync, Deployment linkspan-operator', 'Synced']));
    const applied = (await fleet.cluster('west').audit()).filter(isApplied);
    expect(applied.map(nameOf)).toContain(`patch deployments ${LINKS_NAMESPACE}/linkspan-operator`);
  });

  test('shows a Link whose target is away as Degraded, with the reason, and as Healthy when it is back', async () => {
    await linkHealth('east', 'west', 'Healthy');
    await fleet.cluster('west').kill();
    await linkHealth('east', 'west', 'Degraded', 'existing mirrors stay as they are');
    await linkHealth('east', 'north', 'Healthy');
    await fleet.cluster('west').start();
    await linkHealth('east', 'west', 'Healthy');
    await argocd.settled(revision, ROOT, ...APPLICATIONS);
  });

  test('leaves what a team puts into a placeholder to the team', async () => {
    const credentials = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cluster-credentials-west', namespace: LINKS_NAMESPACE },
    };
    const data = async (): Promise<unknown> =>
      (await fleet.api('east').get<{ readonly data?: unknown }>(credentials))?.data;
    const filled = await data();
    await commit('Keep placeholders', (file) => ({ ...file, credentials: { type: 'placeholder' } }));
    await argocd.settled(revision, ROOT, ...APPLICATIONS);
    expect(await data()).toEqual(filled);

    await fleet.api('east').delete(credentials);
    await linkHealth('east', 'west', 'Degraded', 'token: must not be empty');
    await fleet.fillCredentials('east', 'west');
    const refilled = await data();
    await linkHealth('east', 'west', 'Healthy');
    await compareAll();
    await argocd.settled(revision, ROOT, ...APPLICATIONS);
    expect(await data()).toEqual(refilled);
  });

  test('makes the same Applications by an ApplicationSet', async () => {
    const sets = await example('sets');
    const render = async (applications: 'each' | 'application-set') => {
      // Another project, of which nothing is synced: these clusters are taken.
      const argoCd = { project: 'sets', root: false, health: false, automated: false, applications } as const;
      await sets.commit(applications, (file) => ({ ...file, argoCd: { ...file.argoCd, ...argoCd } }));
      return sets.objects('argocd');
    };
    const written = (await render('each')).filter(isApplication);
    expect(written).toHaveLength(MEMBERS.length);
    await sets.remove('argocd');
    for (const object of await render('application-set')) await fleet.api(HUB).apply(object);
    for (const { metadata, spec } of written) {
      const made = await argocd.until(metadata.name, 'is made by the ApplicationSet', () => true);
      // Which wave of the root it is in is nothing to an Application that the root does not apply.
      const { [SYNC_WAVE_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
      expect(made).toMatchObject({ metadata: { ...metadata, annotations }, spec });
    }
  });

  test('lets a cluster go by two commits: its mirrors go with its Links, its Links and mirrors go on the others, which stay well', async () => {
    await fleet.api('north').apply(service('web', { labels: EXPORTED }));
    for (const member of LEFT) {
      await fleet.api(member).apply(service('web', { labels: EXPORTED }));
      await hasMirrors(member, 'north', 1);
      await hasMirrors('north', member, 1);
    }
    // Others still use north, so that its gateway stays until the end: Argo CD does not prune its policy.
    const pairs = LEFT.flatMap((source) =>
      MEMBERS.filter((target) => target !== source).map((target) => ({ source, target })),
    );
    await commit('Unlink north', (file) => ({
      ...file,
      members: file.members.map((each) => (each.name === 'north' ? { ...each, operator: true } : each)),
      topology: { type: 'pairs', pairs },
    }));
    for (const member of LEFT) await hasMirrors('north', member, 0);
    await fleet.rollOut('north');
    await argocd.settled(revision, ROOT, ...APPLICATIONS);
    await commit('Let north go', ({ topology: _, ...file }) => ({
      ...file,
      members: file.members.filter(({ name }) => name !== 'north'),
    }));

    await eventually(
      'the Application of north is gone',
      async () => (await argocd.application(applicationOf('north'))) === undefined,
      DEADLINE_MS,
    );
    // The roles no longer cover the credentials of north, which an operator with the former arguments would watch for ever.
    for (const member of LEFT) await fleet.rollOut(member);
    await argocd.settled(revision, ROOT, ...LEFT.map(applicationOf));
    for (const member of LEFT) {
      await hasMirrors(member, 'north', 0);
      const links = await fleet.api(member).list({
        apiVersion: LINK_API,
        kind: 'Link',
        namespace: LINKS_NAMESPACE,
      });
      expect(links.map(({ metadata }) => metadata.name)).toEqual(LEFT.filter((target) => target !== member));
    }
    await argocd.settled(revision, ROOT, ...LEFT.map(applicationOf));
  });

  test('goes over to an ApplicationSet by the steps that synth gives, and loses no object of any cluster', async () => {
    const applications = LEFT.map(applicationOf);
    const change = (file: ClusterFile): ClusterFile => ({
      ...file,
      argoCd: { ...file.argoCd, applications: 'application-set' },
    });
    const refusal = await repository.commit('Make an ApplicationSet', change).catch(String);
    const namespace = 'argocd';
    const steps = [
      `delete --ignore-not-found applications.argoproj.io ${ROOT}`,
      `patch applications.argoproj.io ${applications.join(' ')} --type=merge --patch='{"metadata":{"finalizers":null}}'`,
      `delete applications.argoproj.io ${applications.join(' ')}`,
    ].map((step) => `\`kubectl --namespace=${namespace} ${step}\``);
    expect(refusal).toContain(steps.join(', then '));

    const uids = (): Promise<readonly (readonly (string | undefined)[])[]> =>
      Promise.all(
        LEFT.map(async (member) => {
          const links = { apiVersion: LINK_API, kind: 'Link', namespace: LINKS_NAMESPACE };
          const operator = { name: 'linkspan-operator', namespace: LINKS_NAMESPACE };
          const found = [
            ...(await fleet.api(member).list(links)),
            await fleet.api(member).get({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: operator }),
          ];
          return found.map((each) => each?.metadata.uid);
        }),
      );
    const before = await uids();
    const application = (name: string) => ({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name, namespace },
    });
    await fleet.api(HUB).delete(application(ROOT));
    for (const name of applications) {
      await fleet.api(HUB).patch(application(name), { metadata: { finalizers: null } });
      await fleet.api(HUB).delete(application(name));
      await eventually('it is gone', async () => (await argocd.application(name)) === undefined, DEADLINE_MS);
    }
    await repository.remove('argocd');
    revision = await repository.commit('Make an ApplicationSet', change);
    for (const object of await repository.objects('argocd')) {
      if (object.kind === 'AppProject' || object.metadata.name === ROOT) await fleet.api(HUB).apply(object);
    }
    for (const name of applications) await argocd.until(name, 'is made by the ApplicationSet', () => true);
    await argocd.settled(revision, ROOT, ...applications);
    expect(await uids()).toEqual(before);
  });
});
