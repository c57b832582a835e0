/** What the command line needs to forecast: the steps, the model of the source cluster, and what they are made from. */
export { lookUpGatewayAddresses } from '../gateway/addresses.ts';
export { machineNetwork } from '../kube/network.ts';
export {
  acceptedOf,
  assignmentOf,
  exportingClusters,
  importingClusters,
  type LinkRead,
  overlapping,
  ownerOf,
  readLinkObject,
  seniorityOf,
} from '../link/links.ts';
export { recordedClusters } from '../link/records.ts';
export { SERVICE_FAILOVERS } from '../failover/kinds.ts';
export { ROUTES } from '../failover/routes.ts';
export { SERVICE_IMPORTS } from '../mcs/objects.ts';
export type { ImportFacts } from './imports.ts';
export { type ExportLists, ListedExports } from './listed-exports.ts';
export type { Listed } from './listed-kind.ts';
export type { FederationFacts } from './federation.ts';
export type { GatewayView } from '../mirror/observed.ts';
export { discoveredBy } from '../source/discovery.ts';
export { PROBE_KEY } from '../source/owner.ts';
export { familiesOfIPs, familiesOfService } from '../source/families.ts';
export {
  forecast,
  type Forecast,
  type ForecastChange,
  type ForecastFinding,
  type ForecastOptions,
  type LinkForecast,
} from './forecast.ts';
export type { LeftCluster, ServedLink } from './party.ts';
export { ListedTarget, wantedByName } from './listed-target.ts';
export { isAssigned, ModelCluster } from './model.ts';
