/**
 * The example gitops-typescript on the real Argo CD: the Applications find the folders that its program writes, and follow
 * it when a cluster goes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterPair } from '../../constructs/index.ts';
import { eventually } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE } from '../support/builders.ts';
import { ArgoCd } from './argocd.ts';
import { onArgoCd } from './available.ts';
import { Fleet, GATEWAYS, MEMBERS, type Member } from './fleet.ts';
import { IN_CLUSTER } from './gitops-repository.ts';
import { type Inventory, ProgramRepository } from './program-repository.ts';

/** Where Argo CD runs. */
const HUB: Member = 'east';
const ROOT = 'linkspan';
const DEADLINE_MS = 120_000;
const applicationOf = (member: Member): string => `${ROOT}-${member}`;

const pairsWithout = (members: readonly Member[], leaving: Member): readonly ClusterPair[] =>
  members
    .filter((source) => source !== leaving)
    .flatMap((source) => members.filter((target) => target !== source).map((target) => ({ source, target })));

/** @param leaving the member that has no Links any more, and keeps its operator */
const inventory = (members: readonly Member[], leaving?: Member): Inventory => ({
  members: members.map((name) => ({
    name,
    gatewayAddresses: [GATEWAYS[name]],
    ...(name === leaving && { operator: true as const }),
  })),
  topology: leaving === undefined ? { type: 'full-mesh' } : { type: 'pairs', pairs: pairsWithout(members, leaving) },
  destinations: { [HUB]: { server: IN_CLUSTER } },
});

onArgoCd('The example gitops-typescript', () => {
  let dir: string;
  let fleet: Fleet;
  let argocd: ArgoCd;
  let repository: ProgramRepository;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkspan-program-'));
    fleet = await Fleet.start(dir);
    argocd = await ArgoCd.start(fleet.cluster(HUB));
    for (const member of MEMBERS) if (member !== HUB) await argocd.register(fleet.cluster(member));
    repository = await ProgramRepository.init(join(dir, 'repository'));
  });
  afterAll(async () => {
    // What beforeAll did not come to is not there.
    await (argocd as ArgoCd | undefined)?.stop();
    await (fleet as Fleet | undefined)?.stop();
    await rm(dir, { recursive: true });
  });

  const linksOf = async (member: Member): Promise<readonly string[]> => {
    const links = { apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link', namespace: LINKS_NAMESPACE };
    return (await fleet.api(member).list(links)).map(({ metadata }) => metadata.name).sort();
  };

  const others = (member: Member, all: readonly Member[]): readonly string[] =>
    all.filter((each) => each !== member).sort();

  test('comes up on every cluster', async () => {
    const revision = await repository.commit('Describe the clusters', inventory(MEMBERS));
    // All else comes by the root.
    for (const object of await repository.argoCdObjects()) {
      if (object.kind === 'AppProject' || object.metadata.name === ROOT) await fleet.api(HUB).apply(object);
    }
    await Promise.all([fleet.attend(...MEMBERS), argocd.settled(revision, ROOT, ...MEMBERS.map(applicationOf))]);
    for (const member of MEMBERS) expect(await linksOf(member)).toEqual(others(member, MEMBERS));
  });

  test('lets a cluster go by a commit of what the program then writes', async () => {
    const stay = MEMBERS.filter((member) => member !== 'north');
    const commit = async (message: string, given: Inventory): Promise<string> => {
      const revision = await repository.commit(message, given);
      await Promise.all([ROOT, ...MEMBERS.map(applicationOf)].map((name) => argocd.refresh(name)));
      return revision;
    };
    await commit('Unlink north', inventory(MEMBERS, 'north'));
    await eventually('north has no Links', async () => (await linksOf('north')).length === 0, DEADLINE_MS);
    const revision = await commit('Let north go', inventory(stay));
    await eventually(
      'the Application of north is gone',
      async () => (await argocd.application(applicationOf('north'))) === undefined,
      DEADLINE_MS,
    );
    await argocd.settled(revision, ROOT, ...stay.map(applicationOf));
    for (const member of stay) expect(await linksOf(member)).toEqual(others(member, stay));
  });
});
