/** Who uses the gateway of a cluster, and all that decides who may: the cluster that exports is read. Plain values. */
import { Default, PolicyApi } from '../../../../crds/wire.ts';
import { GATEWAY_PODS } from '../../../../constructs/gateway/gateway-service.ts';
import {
  type Authorization,
  AUTHORIZATIONS,
  NETWORKS,
  type Networks,
  SERVERS,
} from '../../../../operator/access/objects.ts';
import type { OperatorConfig } from '../../../../operator/config/config.ts';
import { type KubeObject, PODS, type Resource, type Service, SERVICES } from '../../../../operator/kube/objects.ts';
import { SERVICE_EXPORTS } from '../../../../operator/target/read/mcs-objects.ts';
import { DEPLOYMENTS } from '../../common/kinds.ts';
import { type LinkerdRead, readLinkerd } from '../linkerd.ts';
import type { Deployment, Pod } from '../objects.ts';
import { operatorConfig } from '../operator-rights.ts';
import type { Read, Reader, Unread } from '../reader.ts';
import { isOperator, type Scope } from '../survey.ts';
import { readMetrics, type Section } from './usage.ts';

/** A Server of Linkerd's policy. */
export interface Server extends KubeObject {
  readonly spec?: {
    readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly accessPolicy?: string;
  };
}

export interface AccessSurvey extends Scope {
  readonly server: string;
  readonly kubernetes: Read<string>;
  readonly unread: readonly Unread[];
  readonly linkerd: LinkerdRead;
  /** The operator; undefined if none is installed. */
  readonly operator: Read<Deployment | undefined>;
  /** Its settings; undefined if there is none, or they are not valid. */
  readonly config: OperatorConfig | undefined;
  /** The Server of the gateway; undefined if there is none. */
  readonly gateway: Read<Server | undefined>;
  /** Of the namespace of the gateway. */
  readonly authorizations: Read<readonly Authorization[]>;
  readonly networks: Read<readonly Networks[]>;
  /** Of all namespaces. */
  readonly services: Read<readonly Service[]>;
  readonly serviceExports: Read<readonly KubeObject[]>;
  /** Pods of the gateway that run. */
  readonly pods: Read<readonly Pod[]>;
  /** What their proxies have counted, or those that were asked before. */
  readonly counted: readonly Section[];
}

/** Port of the metrics of a proxy whose pod does not name it. */
const DEFAULT_ADMIN_PORT = 4191;

/**
 * Reads everything.
 * @param metrics what proxies of the gateway have printed before; they are asked if it is undefined
 */
export const accessSurvey = async (
  reader: Reader,
  scope: Scope,
  metrics: readonly Section[] | undefined,
): Promise<AccessSurvey> => {
  const { namespace, linkerdNamespace } = scope;
  const kubernetes = await reader.version();
  const [linkerd, deployments, gateway, authorizations, networks, services, serviceExports] = await Promise.all([
    readLinkerd(reader, linkerdNamespace),
    reader.list<Deployment>(DEPLOYMENTS, { namespace }),
    findServed<Server>(reader, SERVERS, Default.gatewayName, namespace),
    reader.list<Authorization>(AUTHORIZATIONS, { namespace }),
    reader.list<Networks>(NETWORKS, { namespace }),
    reader.list<Service>(SERVICES),
    reader.list(SERVICE_EXPORTS),
  ]);
  const pods = await gatewayPods(reader, namespace, gateway.ok ? gateway.value : undefined);
  const running = pods.ok ? pods.value : [];
  const counted = metrics ?? (await Promise.all(running.map((pod) => countedBy(reader, pod)))).flat();
  const operator = deployments.ok ? { ok: true as const, value: deployments.value.find(isOperator) } : deployments;
  const config = operator.ok ? operatorConfig(operator.value) : undefined;
  return {
    ...scope,
    server: reader.server,
    kubernetes,
    unread: reader.unread,
    linkerd,
    operator,
    config,
    gateway,
    authorizations,
    networks,
    services,
    serviceExports,
    pods,
    counted,
  };
};

/** The object; undefined if there is none, also where the API server does not serve the kind. */
const findServed = async <T extends KubeObject>(
  reader: Reader,
  of: Resource,
  name: string,
  namespace: string,
): Promise<Read<T | undefined>> => {
  const all = await reader.list<T>(of, { namespace });
  return all.ok ? { ok: true, value: all.value.find(({ metadata }) => metadata.name === name) } : all;
};

const gatewayPods = async (
  reader: Reader,
  namespace: string,
  gateway: Server | undefined,
): Promise<Read<readonly Pod[]>> => {
  const { matchLabels = GATEWAY_PODS } = gateway?.spec?.podSelector ?? {};
  const labelSelector = Object.entries(matchLabels)
    .map(([name, value]) => `${name}=${value}`)
    .join();
  const pods = await reader.list<Pod>(PODS, { namespace, labelSelector });
  return pods.ok ? { ok: true, value: pods.value.filter(({ status }) => status?.phase === 'Running') } : pods;
};

/** What the proxy of a pod says at its admin port. */
const countedBy = async (reader: Reader, { metadata, spec }: Pod): Promise<readonly Section[]> => {
  const { name, namespace = '' } = metadata;
  const ports = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap((each) => each.ports ?? []);
  const port = ports.find((each) => each.name === PolicyApi.adminPortName)?.containerPort ?? DEFAULT_ADMIN_PORT;
  const text = await reader.podText({ namespace, name, port }, '/metrics');
  return text.ok ? readMetrics(text.value.split('\n'), name) : [{ pod: name, obstacle: text.why }];
};
