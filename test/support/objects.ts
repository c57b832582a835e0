/** The objects that tests read, with the fields that they look at. */
import type { KubeObject } from '../cluster/workload/index.ts';

export interface EndpointsObject extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string; readonly hostname?: string }[];
    readonly notReadyAddresses?: readonly { readonly ip: string; readonly hostname?: string }[];
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  }[];
}

export interface ServiceObject extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly clusterIP: string;
    readonly ports: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
      readonly protocol?: string;
      readonly appProtocol?: string;
    }[];
  };
}

export interface LinkCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface LinkObject extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly LinkCondition[];
    readonly mirrors?: {
      readonly total: number;
      readonly ready: number;
      readonly failed: number;
      readonly notAdmitted?: number;
      readonly waitingForApproval?: number;
    };
    readonly gateway?: { readonly addresses?: readonly string[]; readonly alive?: boolean };
    readonly mirrorServices?: readonly ServiceStatus[];
    readonly federatedServices?: readonly ServiceStatus[];
  };
}

interface ServiceStatus {
  readonly remoteRef: { readonly name: string; readonly namespace: string };
  readonly conditions: readonly LinkCondition[];
}
