/** Props of MirrorOperator. */
import type { LabelSelector } from '../../crds/link/types.gen.ts';
import type { PodProps } from '../common/pod-props.ts';
import type { Scrapers } from '../common/scrape-policy.ts';
import type { OperatorSettings } from './settings.ts';

/** Who may connect, as a NetworkPolicy has it. */
export interface NetworkPolicyPeer {
  /**
   * Labels of the pods that may connect.
   * @default - all pods, if there is a namespaceSelector
   */
  readonly podSelector?: LabelSelector | undefined;
  /**
   * Labels of the namespaces of these pods.
   * @default - the namespace of the operator
   */
  readonly namespaceSelector?: LabelSelector | undefined;
  /**
   * Network in CIDR notation that may connect, and the parts of it that may not.
   * @default - no network
   */
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] | undefined } | undefined;
}

/** Properties of {@link MirrorOperator}. */
export interface MirrorOperatorProps extends PodProps, OperatorSettings {
  /** Image of Linkspan, with tag or digest; its entry point is the `linkspan` command. */
  readonly image: string;
  /**
   * When the kubelet pulls the image.
   * @default - the kubelet's: Always for tag latest, else IfNotPresent
   */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
  /**
   * Namespace of the operator, the Links and their credentials.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Namespace of Linkerd's control plane.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
  /**
   * Target clusters of the Links, the one that `linkerd multicluster gateways` and `check` are to find first.
   * @default - not known: these commands do not find the operator
   */
  readonly targetClusters?: readonly string[] | undefined;
  /**
   * Whether Linkerd's proxy is put into the pods. Without it gateways are probed directly, and so not by mTLS.
   * @default true
   */
  readonly meshed?: boolean | undefined;
  /**
   * Port of /healthz, /readyz and /metrics.
   * @default 9999
   */
  readonly adminPort?: number | undefined;
  /**
   * Address that the admin port listens on; `::` in a cluster that has IPv6 alone.
   * @default 0.0.0.0
   */
  readonly adminHost?: '0.0.0.0' | '::' | undefined;
  /**
   * Who may connect to the pods, as peers of a NetworkPolicy; false for no NetworkPolicy.
   * @default - anybody, to the admin port and to those of Linkerd's proxy
   */
  readonly networkPolicy?: false | { readonly from: readonly NetworkPolicyPeer[] } | undefined;
  /**
   * Who may use the admin port, where the pods are in the mesh: `anybody`, or clients of the mesh alone that run as these
   * ServiceAccounts, as in `{ name: 'prometheus', namespace: 'linkerd-viz' }`. Linkerd allows probes of the kubelet by itself.
   * @default - anybody, since a Prometheus is often not in the mesh
   */
  readonly scrapers?: Scrapers | undefined;
  /**
   * Further environment variables of the container, as for a proxy server; `NODE_OPTIONS` takes the place of ours.
   * @default - none
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default 2 */
  readonly replicas?: number | undefined;
}
