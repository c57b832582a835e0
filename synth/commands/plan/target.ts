/** A target cluster as a forecast needs it, read once: what it exports to a Link, and its gateway. */
import type { LinkSettings } from '../../../crds/index.ts';
import type { Selector } from '../../../crds/selector.ts';
import {
  type GatewayView,
  ListedExports,
  ListedTarget,
  lookUpGatewayAddresses,
  machineNetwork,
  type ServedLink,
  wantedByName,
} from '../../../operator/forecast/index.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type Secret,
  SECRETS,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { Cluster } from '../common/cluster.ts';
import { CommandError } from '../common/command-error.ts';
import { readCredentials } from '../common/credentials-secret.ts';
import type { LinkObject } from '../common/link-object.ts';
import { reportOf } from '../common/link-status.ts';
import { type ClusterReader, liveReader } from '../common/reader.ts';
import { slicesOfServices } from '../common/slices.ts';
import { readExports } from './exports.ts';
import type { Source } from './source.ts';

/** Reads what a Link's forecast is made from. */
export const readServed = async (
  source: Source,
  settings: LinkSettings,
  target: ClusterReader,
  note: (text: string) => void,
): Promise<ServedLink> => {
  const { selector: gateway, remoteDiscoverySelector: flat, federatedServiceSelector: members } = settings;
  const { targetNamespaces } = settings;
  const within = targetNamespaces ?? [undefined];
  // Where there are ServiceFailovers, it counts what is behind mirrors that lead past gateways.
  const readsFlatSlices = source.hasFailovers;
  const lists = await Promise.all(within.map((namespace) => readLists(target, settings, namespace, readsFlatSlices)));
  const services = lists.flatMap((each) => each.services);
  const slices = lists.flatMap((each) => each.slices);
  const listed = new ListedTarget(
    { services: unique(services), slices: unique(slices), namespaces: targetNamespaces },
    { gateway, flat, members, readsMemberSlices: settings.gateway !== undefined, readsFlatSlices },
  );
  for (const object of listed.malformed) note(`${target.context}: ignored, as the operator would: ${object}`);
  const readsExports = source.imports !== undefined && settings.serviceExports;
  const exports = readsExports ? new ListedExports(await readExports(target, targetNamespaces)) : undefined;
  return { settings, target: listed, exports, gateway: await readGateway(source, settings, note) };
};

interface Lists {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
}

/** What the operator would list. */
const readLists = async (
  target: ClusterReader,
  { selector, remoteDiscoverySelector, federatedServiceSelector, gateway }: LinkSettings,
  namespace: string | undefined,
  readsFlatSlices: boolean,
): Promise<Lists> => {
  const lists = await Promise.all([
    readSelected(target, selector, namespace, true),
    readSelected(target, remoteDiscoverySelector, namespace, readsFlatSlices),
    readSelected(target, federatedServiceSelector, namespace, gateway !== undefined),
  ]);
  return { services: lists.flatMap((each) => each.services), slices: lists.flatMap((each) => each.slices) };
};

/** The Services that a selector selects, and slices by the same labels or else by the names of Services. */
const readSelected = async (
  target: ClusterReader,
  selector: Selector | undefined,
  namespace: string | undefined,
  readsSlices: boolean,
): Promise<Lists> => {
  if (selector === undefined) return { services: [], slices: [] };
  const [services, labelled] = await Promise.all([
    target.select<Service>(SERVICES, { namespace, selector }),
    readsSlices ? target.select<EndpointSlice>(ENDPOINT_SLICES, { namespace, selector }) : [],
  ]);
  if (!readsSlices) return { services, slices: [] };
  const named = await slicesOfServices(target, wantedByName(services, labelled), namespace);
  return { services, slices: [...labelled, ...named] };
};

/** Each object once: it may have been found in two ways. */
const unique = <T extends Service | EndpointSlice>(objects: readonly T[]): readonly T[] => [
  ...new Map(objects.map((each) => [`${each.metadata.namespace ?? ''}/${each.metadata.name}`, each])).values(),
];

/** The gateway, its names looked up from here, and alive as the status of the Link says. */
const readGateway = async (
  { families, live, links }: Source,
  { name, gateway, probe }: LinkSettings,
  note: (text: string) => void,
): Promise<GatewayView | undefined> => {
  if (gateway === undefined) return undefined;
  const { addresses, problems } = await lookUpGatewayAddresses(
    { addresses: gateway.addresses, families, network: machineNetwork },
    new AbortController().signal,
  );
  for (const problem of problems) note(`Link ${name}: address of the gateway: ${problem}`);
  const { port, identity } = gateway;
  const alive = probe === undefined ? true : aliveOf(live.get(name), links.get(name));
  return { port, identity, addresses, alive, probe };
};

/** The verdict in the status of the Link, if it is about the same gateway. */
const aliveOf = (live: LinkObject | undefined, given: LinkObject | undefined): boolean | undefined => {
  const isSame = GATEWAY_FIELDS.every(
    (field) => JSON.stringify(live?.spec?.[field]) === JSON.stringify(given?.spec?.[field]),
  );
  return isSame ? live && reportOf(live).gatewayAlive : undefined;
};

const GATEWAY_FIELDS = ['gatewayAddress', 'gatewayPort', 'gatewayIdentity', 'probeSpec'] as const;

/**
 * Opens the target of a Link with the Link's own credentials, and gives it to a function.
 * @param given Secrets that are about to be applied
 * @throws CommandError if there are no credentials, or if they cannot be used
 */
export const withTarget = async <T>(
  source: Source,
  settings: LinkSettings,
  given: readonly Secret[],
  work: (target: ClusterReader) => Promise<T>,
): Promise<T> => {
  const { credentialsSecret: name } = settings;
  const { namespace } = source.config;
  const secret =
    given.find(({ metadata }) => metadata.name === name) ??
    (await source.reader.find<Secret>(SECRETS, { namespace, name }));
  const object = `Secret ${namespace}/${name} of ${source.reader.context}`;
  const remedy = 'add it to the file, or name the target with --to-context or --target-dump';
  const credentials = readCredentials(secret);
  if (!credentials.ok) throw new CommandError([{ object, reason: credentials.reason, remedy }]);
  const cluster = Cluster.reach(settings.cluster, credentials.access.access);
  try {
    return await work(liveReader(cluster));
  } finally {
    await cluster.close();
  }
};
