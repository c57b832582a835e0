/** The kinds that the clusters of a scene have besides Kubernetes' own, and which objects the operator makes. */
import { failoverCrd, linkCrd, mcsCrds } from '../../crds/index.ts';
import { AboutApi, FailoverApi, LinkApi, McsApi } from '../../crds/wire.ts';
import { policyRouteCrd, routeCrds } from '../simulation/route-crds.ts';

/** CRDs of the source, as an installation applies them. */
export const sourceCrds: readonly object[] = [linkCrd, failoverCrd, ...mcsCrds, ...routeCrds, policyRouteCrd];

/** CRDs of a target that exports by the MCS API. */
export const targetCrds: readonly object[] = mcsCrds;

export const LINK = { apiVersion: LinkApi.apiVersion, kind: LinkApi.kind } as const;
export const SERVICE_FAILOVER = { apiVersion: FailoverApi.apiVersion, kind: FailoverApi.kind } as const;
export const SERVICE_EXPORT = { apiVersion: McsApi.apiVersion, kind: McsApi.serviceExport.kind } as const;
export const SERVICE_IMPORT = { apiVersion: McsApi.apiVersion, kind: McsApi.serviceImport.kind } as const;
export const CLUSTER_PROPERTY = { apiVersion: AboutApi.apiVersion, kind: AboutApi.clusterProperty.kind } as const;
