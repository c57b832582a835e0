/** A target cluster as a forecast needs it, read once: what it exports to a Link, and its gateway. */
import type { LinkSettings } from '../../../crds/index.ts';
import {
  type GatewayView,
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
import { slicesOfServices, type Source } from './source.ts';

/** So many names fit into one query. */
const MAX_NAMES = 100;

/** Reads what a Link's forecast is made from. */
export const readServed = async (
  source: Source,
  settings: LinkSettings,
  target: ClusterReader,
  note: (text: string) => void,
): Promise<ServedLink> => {
  const { selector: gateway, remoteDiscoverySelector: flat, targetNamespaces } = settings;
  const within = targetNamespaces ?? [undefined];
  const lists = await Promise.all(within.map((namespace) => readLists(target, settings, namespace)));
  const services = lists.flatMap((each) => each.services);
  const slices = lists.flatMap((each) => each.slices);
  const listed = new ListedTarget({ services, slices, namespaces: targetNamespaces }, { gateway, flat });
  for (const object of listed.malformed) note(`${target.context}: ignored, as the operator would: ${object}`);
  return { settings, target: listed, gateway: await readGateway(source, settings, note) };
};

interface Lists {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
}

/** What the operator would list: Services by selector, and slices by their labels or else by the names of Services. */
const readLists = async (
  target: ClusterReader,
  { selector, remoteDiscoverySelector: flat }: LinkSettings,
  namespace: string | undefined,
): Promise<Lists> => {
  const flatServices = flat === undefined ? [] : await target.select<Service>(SERVICES, { namespace, selector: flat });
  if (selector === undefined) return { services: flatServices, slices: [] };
  const [services, labelled] = await Promise.all([
    target.select<Service>(SERVICES, { namespace, selector }),
    target.select<EndpointSlice>(ENDPOINT_SLICES, { namespace, selector }),
  ]);
  const names = wantedByName(services, labelled);
  const chunks = Array.from({ length: Math.ceil(names.length / MAX_NAMES) }, (_, at) =>
    names.slice(at * MAX_NAMES, (at + 1) * MAX_NAMES),
  );
  const named = await Promise.all(
    chunks.map((chunk) =>
      target.select<EndpointSlice>(ENDPOINT_SLICES, { namespace, selector: slicesOfServices(chunk) }),
    ),
  );
  return { services: unique([...services, ...flatServices]), slices: unique([...labelled, ...named.flat()]) };
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
  return { port, identity, addresses, alive };
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
