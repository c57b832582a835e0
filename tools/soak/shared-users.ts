/** What users do to the shared Services of one cluster: they join and leave, are exported and not, and get ready and not. */
import type { Api } from '../../test/cluster/workload/index.ts';
import { MEMBER_LABEL } from '../../test/simulation/members.ts';
import { service, slice } from '../../test/support/builders.ts';
import { serviceExport } from '../../test/support/mcs.ts';
import { failover, failoverRef, HERE, localSlice, SHARED, steadyIn } from './shared.ts';

const anyOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;

/** Makes one change. @param cluster the source or a target */
export async function changeShared(cluster: string, api: Api): Promise<void> {
  const name = anyOf(SHARED);
  const changes = [
    ...(steadyIn(name) === cluster ? [] : [toggleMember, toggleExport]),
    // Mirrors are judged by the readiness of the pods in a target, which is changed where that is known.
    ...(cluster === HERE ? [toggleReady, editFailover, editFailover] : []),
  ];
  if (changes.length > 0) await anyOf(changes)(name, api);
}

async function toggleMember(name: string, api: Api): Promise<void> {
  const there = await api.get(service(name));
  const isMember = there?.metadata.labels?.[MEMBER_LABEL] !== undefined;
  await api.patch(service(name), { metadata: { labels: { [MEMBER_LABEL]: isMember ? null : 'member' } } });
}

async function toggleExport(name: string, api: Api): Promise<void> {
  const isExported = (await api.get(serviceExport(name))) !== undefined;
  if (isExported) await api.delete(serviceExport(name));
  else await api.create(serviceExport(name));
}

async function toggleReady(name: string, api: Api): Promise<void> {
  const there = (await api.get(slice(name))) as { readonly endpoints?: readonly { readonly conditions?: Ready }[] };
  const isReady = there.endpoints?.[0]?.conditions?.ready !== false;
  await api.patch(slice(name), { endpoints: localSlice(name, !isReady).endpoints });
}

interface Ready {
  readonly ready?: boolean;
}

async function editFailover(name: string, api: Api): Promise<void> {
  const isThere = (await api.get(failoverRef(name))) !== undefined;
  if (!isThere) await api.create(failover(name));
  else if (Math.random() < 0.2) await api.delete(failoverRef(name));
  else await api.patch(failoverRef(name), failover(name, anyOf([0, 1, 2])));
}
