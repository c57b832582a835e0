/**
 * What is observed of one target Service, and of the probe Service, put together from the parts that are known: the
 * settings of the Link and the operator, the target, the gateway and the source cluster. No I/O.
 */
import { isIP } from 'node:net';
import { type LinkSettings, probeName } from '../../crds/index.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { ListedProbe } from '../gateway/gateway.ts';
import { desiredProbe } from '../gateway/probe-service.ts';
import { splitKey } from '../kube/objects.ts';
import { type Manifests, NOTHING } from '../mirror/manifests.ts';
import { gatewayAddresses, gatewayReadiness } from '../mirror/gateway-endpoints.ts';
import type { GatewayView, LinkView, NamespaceState, Observed, OwnedObjects } from '../mirror/observed.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import type { ObservedExport } from '../served/served-target.ts';
import { type NamespaceBudget, namespaceStateOf } from '../source/write-scope.ts';

/** Where mirrors are written, and the settings of the operator. */
interface Surroundings {
  readonly config: OperatorConfig;
  readonly source: Pick<SourceStores, 'namespaces' | 'ownedBy' | 'probesOf' | 'isTaken'>;
}

/** Returns the settings of a Link and the operator that apply to every mirror of the Link. */
export const linkViewOf = (settings: LinkSettings, config: OperatorConfig): LinkView => ({
  cluster: settings.cluster,
  clusterDomain: settings.clusterDomain,
  excludedLabels: settings.excludedLabels,
  excludedAnnotations: settings.excludedAnnotations,
  headless: settings.enableHeadlessServices ?? config.enableHeadlessServices,
  createNamespaces: settings.enableNamespaceCreation ?? config.enableNamespaceCreation,
  endpointsKind: config.endpoints,
  maxServicePods: config.maxServicePods,
});

export interface ServedOptions extends Surroundings {
  readonly link: LinkView;
  readonly gateway: GatewayView | undefined;
  readonly budget: NamespaceBudget;
}

/** Observes one target Service of a Link that is served. */
export const observeServed = (key: string, exported: ObservedExport, options: ServedOptions): Observed => {
  const { gateway, source } = options;
  const { isHeldByPod, ...observed } = exported;
  const link = isHeldByPod ? { ...options.link, headless: true } : options.link;
  const { namespace, name } = splitKey(key);
  const namespaceState = servedNamespaceState(namespace, options);
  return {
    ...observed,
    link,
    gateway,
    namespace,
    name,
    namespaceState,
    owned: ownedIn(namespaceState, source.ownedBy({ cluster: link.cluster, key })),
    isForeign: (service) => source.isTaken(namespace, service, link.cluster),
  };
};

/** Where nothing may be written, the slices of others stay like what is ours. */
const ownedIn = (state: NamespaceState, owned: OwnedObjects): OwnedObjects =>
  state === 'exists' ? owned : { ...owned, foreign: undefined };

const servedNamespaceState = (namespace: string, options: ServedOptions): NamespaceState => {
  const state = namespaceStateOf(namespace, options);
  const isWanted = state === 'missing' && options.link.createNamespaces;
  return isWanted && !options.budget.admits(namespace) ? 'over limit' : state;
};

/** Observes what is left of a cluster that no Link has: nothing is exported, and that is certain. */
export const observeLeft = (key: string, cluster: string, { config, source }: Surroundings): Observed => {
  const { namespace, name } = splitKey(key);
  const namespaceState = namespaceStateOf(namespace, { config, source });
  return {
    link: {
      cluster,
      clusterDomain: '',
      excludedLabels: [],
      excludedAnnotations: [],
      headless: false,
      createNamespaces: false,
      endpointsKind: config.endpoints,
    },
    namespace,
    name,
    slices: undefined,
    departed: new Map(),
    isAdmitted: true,
    admitsPod: () => true,
    decidable: true,
    isConfirmed: true,
    namespaceState,
    owned: ownedIn(namespaceState, source.ownedBy({ cluster, key })),
    isForeign: () => false,
  };
};

/**
 * Returns the probe Service of a Link and its endpoints; undefined while it is not known what they must be.
 * @param gateway as endpoints lead to it
 */
export const probeManifests = (
  settings: LinkSettings,
  gateway: GatewayView | undefined,
  { config, source }: Surroundings,
): Manifests | undefined => {
  if (settings.gateway === undefined) return NOTHING;
  // Before the first lookup, the addresses that the probe Service has are kept.
  if (gateway === undefined || gateway.addresses.length === 0) return undefined;
  const { namespace, endpoints: endpointsKind } = config;
  const { cluster, name } = settings;
  const owned = source.probesOf(cluster, name);
  return desiredProbe({
    settings,
    gateway,
    namespace,
    endpointsKind,
    owned,
    isForeign: (service) =>
      source.isTaken(namespace, service, cluster) && !owned.services.some(({ metadata }) => metadata.name === service),
  });
};

/** Returns the address of the probe Service of a Link; undefined while it has none. */
export const probeAddress = (
  { name, cluster }: Pick<LinkSettings, 'name' | 'cluster'>,
  source: Pick<SourceStores, 'probesOf'>,
): string | undefined => {
  const { services } = source.probesOf(cluster, name);
  const address = services.find(({ metadata }) => metadata.name === probeName(name))?.spec?.clusterIP;
  return isIP(address ?? '') === 0 ? undefined : address;
};

/** Returns where the probe Service of a Link leads to. */
export const probeEndpoints = (
  { name, cluster }: Pick<LinkSettings, 'name' | 'cluster'>,
  source: Pick<SourceStores, 'probesOf'>,
): ListedProbe => {
  const owned = source.probesOf(cluster, name);
  const service = owned.services.find(({ metadata }) => metadata.name === probeName(name));
  return { addresses: gatewayAddresses(owned, probeName(name)), port: service?.spec?.ports?.[0]?.port };
};

/**
 * Returns the last verdict on a gateway: it was not alive if its Link said so, or if none of the mirrors of its cluster
 * that have addresses is ready, which are written before the Link says why. Undefined if it is not known.
 * @param said what its Link says; undefined if it says nothing
 */
export const aliveBy = (
  cluster: string,
  source: Pick<SourceStores, 'keysOf' | 'ownedBy'>,
  said: boolean | undefined,
): boolean | undefined => {
  if (said === false) return false;
  let isAnyListed = false;
  for (const key of source.keysOf(cluster)) {
    if (key === PROBE_KEY) continue;
    for (const isReady of gatewayReadiness(source.ownedBy({ cluster, key }))) {
      if (isReady) return true;
      isAnyListed = true;
    }
  }
  return isAnyListed ? false : said;
};
