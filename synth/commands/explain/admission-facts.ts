/** What decides whether a client comes through the gateway of a target to a Service, as one plain value. */
import { Default, OPERATOR_NAME } from '../../../crds/wire.ts';
import {
  ACCESS_ROUTES,
  type AccessRoute,
  AUTHENTICATIONS,
  type Authorization,
  AUTHORIZATIONS,
  NETWORKS,
  type Networks,
  SERVERS,
} from '../../../operator/access/objects.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { type KubeObject, type Resource, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import { SERVICE_EXPORTS } from '../../../operator/target/read/mcs-objects.ts';
import { readIdentity } from '../common/clients.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError, ExitCode } from '../common/command-error.ts';
import type { NamedCluster } from '../common/command-text.ts';
import { DEPLOYMENTS, GATEWAY_GRPC_ROUTES, GATEWAY_HTTP_ROUTES, SERVER_AUTHORIZATIONS } from '../common/kinds.ts';
import { type Domains, readDomains } from '../common/linkerd.ts';
import { type OperatorDeployment, settingsIn } from '../common/operator-settings.ts';
import { readable } from '../common/readable.ts';
import type { ServiceRef } from './facts.ts';
import { type Authentication, isForGateway, type PolicyObjects, type Server } from './gateway-policy.ts';

export interface AdmissionFacts {
  /** The cluster of the gateway, and the namespace of the gateway in it. */
  readonly target: NamedCluster & { readonly namespace: string };
  readonly ref: ServiceRef;
  /** TLS identity of the client. */
  readonly client: string;
  /** What could not be read. */
  readonly unread: readonly string[];
  /** What names are made of in the target; undefined if Linkerd's settings cannot be read there. */
  readonly domains: Domains | undefined;
  /** Namespace of Linkerd's control plane. */
  readonly linkerdNamespace: string;
  /** Undefined if there is none. */
  readonly service: Service | undefined;
  readonly serviceExport: KubeObject | undefined;
  readonly policy: PolicyObjects;
  /** Names of ServerAuthorizations, an older kind of Linkerd's policy: they are not judged. */
  readonly older: readonly string[];
  /** The settings of the operator in the target; undefined if there is none, or they cannot be read. */
  readonly config: OperatorConfig | undefined;
}

/**
 * The identity that is meant, of a client in the source.
 * @throws CommandError if it is none, or its trust domain is not known
 */
export const identityIn = async (source: Cluster, client: string, linkerdNamespace: string): Promise<string> => {
  const named = { controlPlaneNamespace: linkerdNamespace, trustDomain: 'unknown.invalid' };
  const refused = (reason: string, remedy: string): CommandError =>
    new CommandError([{ object: '--as', reason, remedy }], ExitCode.usage);
  const given = readIdentity(client, named);
  if (given === undefined)
    throw refused(`"${client}" must be a valid client`, 'write shop/web, or shop/web@east.example');
  if (!given.endsWith('.unknown.invalid')) return given;
  const domains = await readDomains(source, linkerdNamespace);
  if (domains === undefined) {
    const reason = `the trust domain of ${source.context} is not known: there is no Linkerd in namespace ${linkerdNamespace}`;
    throw refused(reason, `write ${client}@ and the trust domain, or name its namespace with --linkerd-namespace`);
  }
  return readIdentity(client, { ...named, trustDomain: domains.trustDomain }) ?? given;
};

/** Reads all that decides. */
export const admissionFactsOf = async (
  target: Cluster,
  namespace: string,
  ref: ServiceRef,
  client: string,
  linkerdNamespace: string,
): Promise<AdmissionFacts> => {
  const unread: string[] = [];
  const read = async <T>(what: string, find: () => Promise<T>, instead: T): Promise<T> => {
    const found = await readable(find);
    if ('found' in found) return found.found;
    unread.push(`${what} cannot be read: ${found.obstacle}`);
    return instead;
  };
  const list = <T extends KubeObject>(of: Resource): Promise<readonly T[]> =>
    read(of.plural, () => target.list<T>(of, { namespace }), []);
  const operatorRef = { namespace, name: OPERATOR_NAME };
  const findOperator = () => target.find<OperatorDeployment>(DEPLOYMENTS, operatorRef);
  const [[domains, service, serviceExports, operator], [servers, routes, http, grpc], authorizing] = await Promise.all([
    Promise.all([
      read("Linkerd's settings", () => readDomains(target, linkerdNamespace), undefined),
      read('the Service', () => target.find<Service>(SERVICES, ref), undefined),
      read(SERVICE_EXPORTS.plural, () => target.list(SERVICE_EXPORTS, { namespace: ref.namespace }), []),
      read(`Deployment ${OPERATOR_NAME}`, findOperator, undefined),
    ]),
    Promise.all([
      list<Server>(SERVERS),
      list<AccessRoute>(ACCESS_ROUTES),
      list<AccessRoute>(GATEWAY_HTTP_ROUTES),
      list<AccessRoute>(GATEWAY_GRPC_ROUTES),
    ]),
    Promise.all([
      list<Authorization>(AUTHORIZATIONS),
      list<Authentication>(AUTHENTICATIONS),
      list<Networks>(NETWORKS),
      list(SERVER_AUTHORIZATIONS),
    ]),
  ]);
  const [authorizations, authentications, networks, older] = authorizing;
  const settings = operator && settingsIn(operator, { namespace });
  return {
    target: { kubeconfig: target.kubeconfig, context: target.context, namespace },
    ref,
    client,
    unread,
    domains,
    linkerdNamespace,
    service,
    serviceExport: serviceExports.find(({ metadata }) => metadata.name === ref.name),
    policy: {
      server: servers.find(({ metadata }) => metadata.name === Default.gatewayName),
      routes: [...routes, ...http, ...grpc].filter(isForGateway),
      authorizations,
      authentications,
      networks,
    },
    older: older.map(({ metadata }) => metadata.name),
    config: settings?.ok === true ? settings.config : undefined,
  };
};
