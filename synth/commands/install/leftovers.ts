/**
 * What the operator has made in a cluster and keeps: mirrors, federated Services, ServiceImports with their Services, and the
 * routes of ServiceFailovers. Without the operator nobody follows them, and clients are led to addresses that are gone.
 */
import { Annotation, FIELD_MANAGER, Label, LOCAL_MIRROR, OPERATOR_LEASE, RouteApi, Value } from '../../../crds/wire.ts';
import { SERVICE_IMPORTS } from '../../../operator/mcs/objects.ts';
import { SERVICE_EXPORTS } from '../../../operator/target/read/mcs-objects.ts';
import { keyOf, type KubeObject, type Lease, LEASES, type Resource, SERVICES } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import { readFederated } from '../common/federated.ts';
import { LINKS, SERVICE_FAILOVERS } from '../common/kinds.ts';
import { unserved } from '../common/lease.ts';
import type { LinkObject } from '../common/link-object.ts';
import { isRemoved, leftNotes, type WriteScope, writeScope } from '../common/mirrors-left.ts';
import { ifAllowed } from '../common/readable.ts';
import { followerOf, linkedClusters, type LinksLeft } from './links-left.ts';

/** The kinds of routes that divide the requests of a ServiceFailover. */
const ROUTES = (['GRPCRoute', 'HTTPRoute', 'TCPRoute'] as const).map((kind): Resource => ({
  group: RouteApi.group,
  version: RouteApi[kind].slice(RouteApi.group.length + 1),
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: true,
}));

/** What the operator has made and is there. */
export interface Leftovers {
  /** What is to be removed first. */
  readonly problems: readonly Problem[];
  /** Mirrors that it never removes, with the commands that delete them. */
  readonly notes: readonly string[];
}

/**
 * What is left, each with the command that removes it. Mirrors of Links go with these, or stay with these.
 * @param installed other namespaces with an installation, whose operator follows what it has marked, and ServiceFailovers
 */
export const leftovers = async (
  cluster: Cluster,
  namespaces: { readonly namespace: string; readonly linkerdNamespace: string },
  links: LinksLeft,
  installed: readonly string[],
): Promise<Leftovers> => {
  const { namespace } = namespaces;
  const elsewhere = [...new Set([...installed, ...(await served(cluster))])].filter((each) => each !== namespace);
  const linked = new Set([...linkedClusters(links), ...(await linkedElsewhere(cluster, elsewhere))]);
  const isFollowed = ({ metadata }: KubeObject): boolean =>
    elsewhere.includes(metadata.annotations?.[Annotation.operator] ?? '');
  const [left, ...found] = await Promise.all([
    mirrors(cluster, linked, await writeScope(cluster, namespaces)),
    federated(cluster, links, isFollowed),
    imports(cluster, isFollowed),
    ...(elsewhere.length > 0 ? [] : ROUTES.map((of) => routes(cluster, of))),
  ]);
  return { problems: [...left.problems, ...found.flat()], notes: left.notes };
};

/** The namespaces in which an operator leads, however it was installed: from Git, nothing records it. */
const served = async (cluster: Cluster): Promise<readonly string[]> => {
  const query = { fieldSelector: `metadata.name=${OPERATOR_LEASE}` };
  const leases = await ifAllowed(() => cluster.list<Lease>(LEASES, query));
  if (!('found' in leases)) return [];
  return leases.found.flatMap((lease) =>
    unserved(lease, Date.now()) === undefined ? (lease.metadata.namespace ?? []) : [],
  );
};

/** The clusters that Links of other namespaces name: of all, or of those that may be read. */
const linkedElsewhere = async (cluster: Cluster, namespaces: readonly string[]): Promise<readonly string[]> => {
  const all = await ifAllowed(() => cluster.list<LinkObject>(LINKS, {}));
  const found =
    'found' in all
      ? all.found
      : (await Promise.all(namespaces.map((namespace) => cluster.list<LinkObject>(LINKS, { namespace })))).flat();
  return found.map(({ spec }) => spec?.targetClusterName ?? '');
};

/** The operator removes the probe Service of a Link last: while it is there, the Link's removal is under way. */
const mirrors = async (cluster: Cluster, linked: ReadonlySet<string>, scope: WriteScope): Promise<Leftovers> => {
  const found = await cluster.list(SERVICES, { labelSelector: Label.clusterName });
  const ours = found.filter(
    ({ metadata: { labels = {}, managedFields = [] } }) =>
      labels[Label.mirroredService] === Value.true ||
      // Linkerd's chart makes probe Services, too.
      (labels[Label.mirroredGateway] === Value.true && managedFields.some(({ manager }) => manager === FIELD_MANAGER)),
  );
  const byCluster = Map.groupBy(ours, ({ metadata }) => metadata.labels?.[Label.clusterName] ?? '');
  const left = [...byCluster].filter(([name]) => !linked.has(name));
  const problems = left.flatMap(([name, all]) => {
    const { length } = all.filter((each) => isRemoved(each, scope));
    if (length === 0) return [];
    return {
      object: `mirrors of ${name} in ${cluster.context}`,
      reason: `${length} are left without a Link`,
      remedy: 'wait until the operator has removed them, or see its log',
    };
  });
  const notes = left.flatMap(([name, all]) =>
    leftNotes(
      cluster,
      name,
      all.filter((each) => !isRemoved(each, scope)),
    ),
  );
  return { problems, notes };
};

/** `kubectl … delete` of objects of one namespace. */
const removalOf = (cluster: Cluster, namespace: string, words: readonly string[]): string =>
  `\`${kubectl(cluster, '--namespace', namespace, 'delete', ...words)}\``;

const federated = async (
  cluster: Cluster,
  links: LinksLeft,
  isFollowed: (object: KubeObject) => boolean,
): Promise<readonly Problem[]> => {
  const [found, labelled] = await Promise.all([
    readFederated(cluster),
    cluster.list(SERVICES, { labelSelector: Label.federated }),
  ]);
  const local = new Set(labelled.map(keyOf));
  return found.flatMap((each) => {
    const follower = followerOf(links, each);
    if (follower === 'others') return [];
    const { metadata } = each.service;
    if (isFollowed(each.service)) return [];
    const { member } = each;
    const { namespace = '', name } = metadata;
    const unlabel = kubectl(cluster, '--namespace', namespace, 'label', 'service', member, `${Label.federated}-`);
    const removal = `delete it: ${removalOf(cluster, namespace, [`service/${name}`])}`;
    const ending = local.has(`${namespace}/${member}`)
      ? `take its member out with \`${unlabel}\`, or ${removal}`
      : removal;
    return {
      object: cluster.title(SERVICES.kind, metadata),
      reason: 'is a federated Service that nobody would follow',
      remedy:
        follower === 'local-mirror' ? `scale Deployment ${LOCAL_MIRROR} up, which follows it; or ${ending}` : ending,
    };
  });
};

const imports = async (cluster: Cluster, isFollowed: (object: KubeObject) => boolean): Promise<readonly Problem[]> => {
  const [found, services, exports] = await Promise.all([
    cluster.list(SERVICE_IMPORTS, { labelSelector: Label.serviceImport }),
    cluster.list(SERVICES, { labelSelector: Label.serviceImport }),
    cluster.list(SERVICE_EXPORTS, {}),
  ]);
  const nameOf = ({ metadata }: KubeObject): string =>
    `${metadata.namespace ?? ''}/${metadata.labels?.[Label.serviceImport] ?? metadata.name}`;
  const isExported = new Set(exports.map(keyOf));
  const left = [...found, ...services].filter((each) => !isFollowed(each));
  return [...Map.groupBy(left, nameOf)].map(([key, all]) => {
    const [namespace = '', name = ''] = key.split('/');
    const words = all.map((each) => `${found.includes(each) ? 'serviceimport' : 'service'}/${each.metadata.name}`);
    const removal = removalOf(cluster, namespace, words);
    return {
      object: cluster.title(SERVICE_IMPORTS.kind, { namespace, name }),
      reason: `is there, and nobody would follow ${name}.${namespace}.svc.clusterset.local`,
      remedy: isExported.has(key)
        ? `end its export with ${removalOf(cluster, namespace, [`serviceexport/${name}`])}; where no operator runs, then ${removal}`
        : `wait until the operator has removed it; where none runs: ${removal}`,
    };
  });
};

const routes = async (cluster: Cluster, of: Resource): Promise<readonly Problem[]> => {
  const found = await cluster.list(of, { labelSelector: Label.serviceFailover });
  const problems = found.map(async (route): Promise<readonly Problem[]> => {
    const failover = route.metadata.labels?.[Label.serviceFailover];
    const { namespace = '', name } = route.metadata;
    if (failover === undefined) return [];
    const own = removalOf(cluster, namespace, [`${SERVICE_FAILOVERS.plural}.${SERVICE_FAILOVERS.group}/${failover}`]);
    const itself = removalOf(cluster, namespace, [`${of.plural}.${of.group}/${name}`]);
    const isThere = (await cluster.find(SERVICE_FAILOVERS, { namespace, name: failover })) !== undefined;
    return [
      {
        object: cluster.title(of.kind, route.metadata),
        reason: `ServiceFailover ${failover} divides requests by it, and nobody would follow it`,
        remedy: isThere
          ? `delete the ServiceFailover: ${own}; where no operator runs, then ${itself}`
          : `the ServiceFailover is gone; delete it: ${itself}`,
      },
    ];
  });
  return (await Promise.all(problems)).flat();
};
