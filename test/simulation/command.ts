/**
 * What happens in a history: one plain value for each thing that users, targets, gateways, networks and processes do.
 * A history is a list of these, so it can be printed, kept as a regression, and shrunk by leaving some out.
 */
import type { PolicyName } from './import-policy.ts';
import type { ImportCommand } from './import-commands.ts';
import type { Manner } from './manners.ts';
import type { Weather } from './world/internet.ts';

/** The two targets; each has a Link of its name. */
export const TARGETS = ['west', 'bar'] as const;
export type TargetName = (typeof TARGETS)[number];

/** The Links. `west-v2` is what users rename `west` to, or put beside it. */
export const LINKS = [...TARGETS, 'west-v2'] as const;
export type LinkName = (typeof LINKS)[number];
export const TARGET_OF: Readonly<Record<LinkName, TargetName>> = { west: 'west', bar: 'bar', 'west-v2': 'west' };

/** `foo-bar` on `west` and `foo` on `bar-west` want one name. */
export const CLUSTER_OF: Readonly<Record<LinkName, string>> = { west: 'west', bar: 'bar-west', 'west-v2': 'west' };
/** What Link `bar` may call its target instead. */
export const OTHER_CLUSTER = 'far';

export const NAMESPACES = ['shop', 'till'] as const;
/** So many that losing them is a mass deletion (E6). */
export const MANY: readonly string[] = Array.from({ length: 12 }, (_, index) => `many-${index}`);

/** What gateways may be called instead of by their addresses. */
export const GATEWAY_NAME = 'gateway.example';

export type Kind = 'clusterIP' | 'headless' | 'selectorless' | 'external';
export type Export = 'true' | 'false' | 'remote-discovery' | 'none';

export interface PodState {
  /** Empty: the pod has no name of its own. */
  readonly hostname: string;
  readonly ready: boolean;
}

/** How a Link wants members of federated Services to be reached. */
export type Federation = 'flat' | 'gateway';

/** A Service of the source cluster. */
export interface OfSource {
  readonly namespace: string;
  readonly name: string;
}

/** A Service of a target. */
export interface Of extends OfSource {
  readonly link: TargetName;
}

/** What a ServiceFailover says (J1). */
export interface FailoverSpec {
  readonly service: string;
  readonly backends: readonly {
    readonly service: string;
    readonly minReady?: number | string;
    readonly weight?: number;
  }[];
  readonly holdDown?: string;
  readonly routeKind?: 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute';
}

/** `policy`: an HTTPRoute of Linkerd's own. */
export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute' | 'policy';
export type RouteEdit = 'delete' | 'weights' | 'no weights' | 'backend' | 'parent' | 'disown';

export type Command =
  | ImportCommand
  | ({
      readonly do: 'put service';
      readonly kind: Kind;
      readonly exported: Export;
      /** Index into {@link PORTS}. */
      readonly ports: number;
      /** Value of a label and an annotation that are copied. */
      readonly tag: string;
      readonly publishNotReady: boolean;
    } & Of)
  | ({ readonly do: 'remove service' } & Of)
  /**
   * A dozen exported Services; and all Services lost at once without watch events, as after a restore of an empty
   * backup.
   */
  | { readonly do: 'put many' | 'lose all'; readonly link: TargetName }
  /** What is held of every Link is confirmed, as its status says how (E6). */
  | { readonly do: 'confirm prunes' }
  /** A third of the Services is lost in the same way, by the number in the name. */
  | { readonly do: 'lose part'; readonly link: TargetName; readonly part: 0 | 1 | 2 }
  /** All slices are lost in the same way, and made again after a while. */
  | { readonly do: 'lose slices'; readonly link: TargetName; readonly ms: number }
  /** An exported headless Service with so many pods that losing them is a mass deletion. */
  | { readonly do: 'put set'; readonly link: TargetName; readonly pods: number }
  /**
   * Another one whose slices are made by hand, for as many pods; in a second slice, the first pod has another number of
   * the same port.
   */
  | { readonly do: 'put by hand'; readonly link: TargetName; readonly pods: number; readonly second: boolean }
  /** The pods of the crowd come to be so many, of which so many are ready. */
  | { readonly do: 'change crowd'; readonly pods: number; readonly ready: number }
  /** Objects that no API server would store, by their number (see hostile.ts). */
  | {
      readonly do: 'put hostile';
      readonly kind: 'Service' | 'EndpointSlice';
      readonly link: TargetName;
      readonly namespace: string;
      readonly index: number;
    }
  | { readonly do: 'remove hostile'; readonly link: TargetName }
  /** A Service that is well turns into one that no API server would store, until somebody changes it. */
  | ({ readonly do: 'spoil service'; readonly index: number } & Of)
  /** Somebody else writes the status of a Link. */
  | { readonly do: 'write status'; readonly link: LinkName; readonly index: number }
  /** The pods behind a Service are deleted, and made anew after a while. */
  | ({ readonly do: 'renew pods'; readonly ms: number } & Of)
  | ({ readonly do: 'export'; readonly exported: Export } & Of)
  | ({ readonly do: 'set pods'; readonly pods: readonly PodState[] } & Of)
  | ({ readonly do: 'set slice'; readonly pods: readonly PodState[] } & Of)
  /** A Service joins the federated Service of its name, or does not any more (I1). */
  | ({ readonly do: 'federate'; readonly member: boolean } & Of)
  | { readonly do: 'federate many'; readonly link: TargetName; readonly member: boolean }
  /** A Service of the source cluster, which may be the local member, and the pods behind it. */
  | ({
      readonly do: 'put local';
      readonly kind: Kind;
      readonly ports: number;
      readonly member: boolean;
      readonly pods: readonly PodState[];
    } & OfSource)
  | ({ readonly do: 'remove local' } & OfSource)
  /** A ServiceFailover is made, or says something else from now on; `raw`: by an older CRD, which lets anything pass. */
  | ({ readonly do: 'put failover'; readonly spec: FailoverSpec; readonly raw?: boolean } & OfSource)
  | ({ readonly do: 'remove failover' } & OfSource)
  /** Somebody else writes its status, by the number of what is written. */
  | ({ readonly do: 'write failover status'; readonly index: number } & OfSource)
  /** Somebody else has a route whose parent is a Service, or has it no more. */
  | ({ readonly do: 'put route'; readonly kind: RouteKind; readonly parent: string } & OfSource)
  | ({ readonly do: 'remove route'; readonly kind: RouteKind } & OfSource)
  /** Somebody else changes a route of ours, by its number modulo how many there are. */
  | { readonly do: 'edit route'; readonly index: number; readonly how: RouteEdit }
  /** Another operator, in a namespace of its own; `remove`: with its namespace. */
  | { readonly do: 'second operator'; readonly act: 'start' | 'stop' | 'kill' | 'remove' }
  /** Linkerd's control plane gets its copy of the credentials of a target cluster, or loses it (I4). */
  | { readonly do: 'put discovery' | 'remove discovery'; readonly cluster: string }
  | {
      readonly do: 'put foreign';
      readonly kind: 'Service' | 'Endpoints';
      readonly namespace: string;
      readonly name: string;
      readonly labels: 'none' | 'mirror' | 'of another cluster';
    }
  | {
      readonly do: 'remove foreign';
      readonly kind: 'Service' | 'Endpoints';
      readonly namespace: string;
      readonly name: string;
    }
  | {
      readonly do: 'edit mirror';
      readonly kind: 'Service' | 'Endpoints' | 'EndpointSlice';
      /** Which of those there are, modulo their number. */
      readonly index: number;
      readonly how:
        'delete' | 'label' | 'annotation' | 'content' | 'disown' | 'manager' | 'selector' | 'slice' | 'unlabel';
    }
  | { readonly do: 'put namespace' | 'remove namespace'; readonly namespace: string }
  | { readonly do: 'kill gateway' | 'revive gateway'; readonly link: TargetName }
  | { readonly do: 'edit link'; readonly link: LinkName; readonly edit: LinkEdit }
  | { readonly do: 'remove link'; readonly link: LinkName }
  | { readonly do: 'put link'; readonly link: LinkName; readonly invalid?: boolean }
  /** The annotation that leaves a Link to another controller is set, or taken away (H9). */
  | { readonly do: 'suspend link' | 'resume link'; readonly link: LinkName }
  /** Linkerd's controller beside the operator: is started, stops, or is killed. */
  | { readonly do: 'linkerd'; readonly link: LinkName; readonly act: 'start' | 'release' | 'kill' }
  /** Linkerd's local service mirror, which writes local memberships. */
  | { readonly do: 'linkerd local'; readonly act: 'start' | 'release' | 'kill' }
  /** Link `west` becomes `west-v2`, or the other way round: made before the other is deleted, or after. */
  | { readonly do: 'rename link'; readonly first: 'put' | 'remove' }
  | { readonly do: 'put secret'; readonly link: LinkName; readonly as: CredentialsKind }
  /**
   * The credentials for west lead to another cluster from now on, which has these of its Services too; and back, the
   * next time.
   */
  | { readonly do: 'move target'; readonly services: 'all' | 'half' | 'none' }
  | { readonly do: 'stop operator' | 'kill operator' | 'start operator'; readonly replica?: number }
  | { readonly do: 'pause operator'; readonly replica: number; readonly ms: number }
  /** The process that makes the n-th write from now on crashes as it takes effect. */
  | { readonly do: 'crash operator'; readonly writes: number }
  /** For so long. */
  | { readonly do: 'weather'; readonly at: Place; readonly weather: Weather; readonly ms: number }
  /** Answers break off after so many bytes. */
  | { readonly do: 'cut answers'; readonly at: 'east' | TargetName; readonly bytes: number; readonly times: number }
  /** The name of a gateway comes to stand for other addresses, or is not answered. */
  | { readonly do: 'names'; readonly as: 'moved' | 'answered' | 'refused' | 'silent' }
  /**
   * An API server does not listen for a while. Meanwhile it is restored from a backup made so many commands ago (0: it is
   * not), and writes so many versions more.
   */
  | {
      readonly do: 'down';
      readonly at: 'east' | TargetName;
      readonly ms: number;
      readonly back: number;
      readonly more: number;
    }
  /** The right to list and watch a kind of the source cluster is taken away for so long. */
  | { readonly do: 'forbid'; readonly resource: Forbidden; readonly ms: number }
  /** An admission webhook of the source cluster denies one operation on one kind for so long. */
  | {
      readonly do: 'deny';
      readonly operation: 'create' | 'update' | 'delete';
      readonly resource: 'services' | 'endpoints' | 'endpointslices';
      readonly code: 403 | 500;
      readonly ms: number;
    }
  /** One of the two watches of Services breaks, and is refused for so long: the other one goes on. */
  | { readonly do: 'lag'; readonly link: TargetName; readonly mode: 'gateway' | 'flat'; readonly ms: number }
  | { readonly do: 'compact'; readonly at: 'east' | TargetName }
  | { readonly do: 'manner'; readonly at: 'east' | TargetName; readonly as: Manner; readonly ms: number }
  | {
      readonly do: 'fail';
      readonly at: 'east' | TargetName;
      readonly how: Failing;
      readonly fraction: number;
      readonly times: number;
    }
  | {
      readonly do: 'drop watches' | 'expire watches' | 'silence watches' | 'delay' | 'heal';
      readonly at: 'east' | TargetName;
    }
  | { readonly do: 'wait'; readonly ms: number };

/**
 * For how many milliseconds at least a cluster is away. A backup takes a while to be restored and outgrown, longer than the
 * longest wait of a watch before it is opened again: whoever reads it tries at least once in vain.
 */
export const outageMs = ({ ms, back }: { readonly ms: number; readonly back: number }): number =>
  Math.max(ms, back > 0 ? 45_000 : 0);

/** What of the source cluster the operator may be forbidden to read. */
export const FORBIDDEN = ['services', 'endpoints', 'endpointslices', 'links', 'secrets', 'namespaces'] as const;
export type Forbidden = (typeof FORBIDDEN)[number];

/** What the operator connects to. */
export const PLACES = ['east', 'west', 'bar', 'gateway of west', 'gateway of bar'] as const;
export type Place = (typeof PLACES)[number];

/** What credentials are good for: all, as before; with a new token; nothing; some of what a Link needs; later. */
export type CredentialsKind =
  'good' | 'renewed' | 'garbage' | 'unauthorized' | 'absent' | 'without watch' | 'without slices' | 'early';

export type Failing = '401' | '403' | '500' | '409' | '429' | '503' | 'drop before' | 'drop after' | 'hang after';

export type LinkEdit =
  | { readonly field: 'gatewayAddress'; readonly value: string }
  | { readonly field: 'gatewayPort'; readonly value: string }
  | { readonly field: 'gatewayIdentity'; readonly value: string }
  | { readonly field: 'selector'; readonly value: 'value' | 'exists' | 'empty' }
  | { readonly field: 'remoteDiscoverySelector'; readonly value: 'value' | 'empty' }
  | { readonly field: 'enableHeadlessServices'; readonly value: boolean }
  | { readonly field: 'enableNamespaceCreation'; readonly value: boolean }
  | { readonly field: 'probe'; readonly value: boolean }
  | { readonly field: 'excluded'; readonly value: boolean }
  | { readonly field: 'period'; readonly value: '0s' | '3s' }
  | { readonly field: 'targetClusterName'; readonly value: string }
  | { readonly field: 'federatedServiceSelector'; readonly value: 'value' | 'empty' }
  | { readonly field: 'federation'; readonly value: Federation }
  | { readonly field: 'serviceExports'; readonly value: boolean }
  | { readonly field: 'importPolicy'; readonly value: PolicyName };

/** Ports that a Service of a history may have. */
export const PORTS: readonly (readonly object[])[] = [
  [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
  [
    { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 },
    { name: 'grpc', port: 9000, protocol: 'TCP', targetPort: 9090, appProtocol: 'kubernetes.io/h2c' },
  ],
  [
    { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 },
    { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 },
  ],
  [{ port: 80, protocol: 'TCP', targetPort: 8081 }],
  [{ name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 }],
];
