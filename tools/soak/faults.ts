/**
 * What goes wrong while the operator runs, one after the other. Each fault is over when its function returns; what it
 * leaves for the operator to put right is found at the next rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inBoth } from './model.ts';
import type { Stage, Target } from './stage.ts';
import type { Users } from './users.ts';

export interface Fault {
  readonly name: string;
  /** Whether it ends the replica that leads. */
  readonly endsLeader: boolean;
  readonly make: (stage: Stage, users: Users) => Promise<void>;
}

const anyOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;
const between = (from: number, to: number): number => from + Math.random() * (to - from);

export const FAULTS: readonly Fault[] = [
  {
    name: 'a gateway goes and comes back',
    endsLeader: false,
    make: async ({ gateways, model }) => {
      const { gateway, links } = anyOf(gateways);
      model.setGateway(links, false);
      await gateway.die();
      await sleep(between(3_000, 6_000));
      await gateway.revive();
      model.setGateway(links, true);
    },
  },
  {
    name: 'the leader is killed',
    endsLeader: true,
    make: ({ replicas }) => replicas.killLeader(),
  },
  {
    name: 'a target stops answering',
    endsLeader: false,
    make: async ({ targets }, users) => {
      const target = anyOf(targets);
      await users.alone(target, () => pauseFor(target, between(3_000, 12_000)));
    },
  },
  {
    name: 'a target is restored from a backup',
    endsLeader: false,
    make: ({ targets, model }, users) => restore(anyOf(targets), model, users),
  },
  {
    name: 'the source stops answering for a moment',
    endsLeader: false,
    make: ({ here }, users) => users.alone(here, () => pauseFor(here, between(1_000, 2_500))),
  },
  {
    name: 'the source stops answering for longer than a Lease',
    endsLeader: true,
    make: ({ here }, users) => users.alone(here, () => pauseFor(here, between(16_000, 20_000))),
  },
  {
    name: 'the API server of a target is started anew',
    endsLeader: false,
    make: async ({ targets }, users) => {
      const target = anyOf(targets);
      await users.alone(target, async () => {
        await target.cluster.kill();
        await target.cluster.start();
      });
    },
  },
];

/** Its API server answers nobody for so long. */
async function pauseFor({ cluster }: Target, ms: number): Promise<void> {
  cluster.pause();
  await sleep(ms);
  cluster.resume();
}

/** The target becomes what it was a few seconds ago; its resourceVersions go back. */
async function restore(target: Target, model: Stage['model'], users: Users): Promise<void> {
  const kept = await users.alone(target, async () => {
    await target.cluster.backup();
    return model.backup(target.name);
  });
  await sleep(between(2_000, 4_000));
  await users.alone(target, async () => {
    const now = new Map(model.backup(target.name).map((service) => [service.name, service]));
    for (const service of kept) model.put(inBoth(now.get(service.name) ?? service, service));
    await target.cluster.restore();
    for (const service of kept) model.put(service);
  });
}
