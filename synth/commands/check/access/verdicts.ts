/**
 * What becomes of the connections that a gateway has counted, if it is closed: what the operator would admit, by its own
 * reading of exports, and what Linkerd's proxies answer to the rest (rules M1 to M5). Pure.
 */
import {
  type Export,
  type GatewayAccess,
  type GatewayTcp,
  type Identities,
  readExports,
  unionOf,
} from '../../../../operator/access/exports.ts';
import { keyOf } from '../../../../operator/kube/objects.ts';
import type { Linkerd } from '../../common/linkerd.ts';
import type { LinkerdRead } from '../linkerd.ts';
import type { AccessSurvey } from './survey.ts';
import { type Counted, type Use, usesOf } from './usage.ts';

/** `closed` is the end of an opaque connection, the numbers are HTTP's. */
export type Verdict = 'admitted' | '403' | '404' | 'closed';

/** The settings that close a gateway. */
export const CLOSING = ['exported', 'clients'] as const;
export type Closing = (typeof CLOSING)[number];

/** A Service by a name that the gateway was asked for. */
export interface Asked {
  /** `namespace/name` of the Service. */
  readonly key: string;
  /** Name of the pod; undefined if the Service itself was asked for. */
  readonly pod: string | undefined;
}

/** A use, and what becomes of it. */
export interface JudgedUse extends Use {
  /** Undefined if the host is no name of a Service in this cluster. */
  readonly asked: Asked | undefined;
  readonly verdicts: Readonly<Record<Closing, Verdict>>;
}

/** What a gateway would admit. */
export interface Outlook {
  readonly names: MeshNames;
  /** By key of the Service; what is admitted depends on the setting. */
  readonly exports: Readonly<Record<Closing, ReadonlyMap<string, Export>>>;
  readonly tcp: Readonly<Record<Closing, GatewayTcp>>;
  readonly uses: readonly JudgedUse[];
}

/** What was read, and what follows from it. */
export interface AccessFacts extends AccessSurvey {
  /** Undefined where it is not known what is exported. */
  readonly outlook: Outlook | undefined;
}

interface MeshNames {
  readonly clusterDomain: string;
  readonly controlPlaneNamespace: string;
  readonly trustDomain: string;
}

const known = (linkerd: LinkerdRead): Linkerd | undefined =>
  linkerd.ok && linkerd.value !== undefined && !('invalid' in linkerd.value) ? linkerd.value : undefined;

/** What would be admitted of what was counted; undefined where it is not known what is exported. */
export const outlookOf = (survey: AccessSurvey): Outlook | undefined => {
  const { linkerd, services, serviceExports, counted, config, linkerdNamespace } = survey;
  const settings = known(linkerd);
  if (settings === undefined || !services.ok || !serviceExports.ok) return undefined;
  const { clusterDomain, trustDomain } = settings;
  const names = { clusterDomain, trustDomain, controlPlaneNamespace: linkerdNamespace };
  const byKey = new Map(serviceExports.value.map((each) => [keyOf(each), each]));
  const exportsFor = (mode: GatewayAccess): ReadonlyMap<string, Export> =>
    new Map([...readExports(services.value, byKey, mode, names)].map((each) => [each.key, each]));
  const exports = { exported: exportsFor('exported'), clients: exportsFor('clients') };
  const { gatewayTcp: given = 'none' } = config ?? {};
  // With `clients` the operator refuses it.
  const tcp = { exported: given, clients: given === 'meshed' ? ('none' as const) : given };
  const judges = {
    exported: new Judge(exports.exported, tcp.exported),
    clients: new Judge(exports.clients, tcp.clients),
  };
  const uses = usesOf(counted.filter(isCounted)).map((use) => ({
    ...use,
    asked: askedOf(use.host, clusterDomain),
    verdicts: { exported: judges.exported.verdict(use), clients: judges.clients.verdict(use) },
  }));
  return { names, exports, tcp, uses };
};

export const isCounted = (section: AccessSurvey['counted'][number]): section is Counted => !('obstacle' in section);

/** The Service that a host is the name of, or the name of a pod of. */
const askedOf = (host: string, clusterDomain: string): Asked | undefined => {
  const end = `.svc.${clusterDomain}`;
  if (!host.endsWith(end)) return undefined;
  const [namespace = '', name = '', ...pod] = host.slice(0, -end.length).split('.').toReversed();
  if (name === '' || pod.length > 1) return undefined;
  return { key: `${namespace}/${name}`, pod: pod[0] };
};

/** What a closed gateway admits. */
class Judge {
  readonly #hosts = new Map<string, Export>();
  /** Whom the policy for opaque connections names, which counts for the whole gateway. */
  readonly #everywhere: Identities;

  constructor(exports: ReadonlyMap<string, Export>, tcp: GatewayTcp) {
    for (const each of exports.values()) for (const host of each.hosts) this.#hosts.set(host, each);
    const opaque = [...exports.values()].filter(({ opaquePorts }) => opaquePorts.length > 0);
    this.#everywhere = tcp === 'meshed' ? '*' : tcp === 'clients' ? unionOf(opaque.map((each) => each.identities)) : [];
  }

  verdict({ client, host, isOpaque }: Use): Verdict {
    if (isOpaque) return includes(this.#everywhere, client) ? 'admitted' : 'closed';
    const found = this.#hosts.get(host) ?? this.#hosts.get(host.replace(/^[^.]+/, '*'));
    // An export for nobody has no route.
    if (found === undefined || found.identities.length === 0) return '404';
    return includes(found.identities, client) || includes(this.#everywhere, client) ? 'admitted' : '403';
  }
}

const includes = (identities: Identities, client: string): boolean => identities === '*' || identities.includes(client);
