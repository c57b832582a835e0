/** The objects that checks read besides those that the operator reads, with the fields that they look at. */
import type { KubeObject } from '../../../operator/kube/objects.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
}

export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly spec?: { readonly serviceAccountName?: string; readonly containers?: readonly Container[] };
    };
  };
  readonly status?: {
    readonly availableReplicas?: number;
    readonly readyReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
  };
}

export interface Pod extends KubeObject {
  readonly spec?: { readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** The pods that have not ended: one that was evicted is listed until somebody deletes it. */
export const running = (pods: readonly Pod[]): readonly Pod[] =>
  pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');

/** A part of a CRD's schema. */
export interface CrdSchema {
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly items?: CrdSchema;
}

export interface Crd extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: CrdSchema };
    }[];
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}
