/** What the command line needs to forecast: the steps, the model of the source cluster, and what they are made from. */
export { lookUpGatewayAddresses } from '../gateway/addresses.ts';
export { machineNetwork } from '../kube/network.ts';
export { acceptedOf, assignmentOf, type LinkRead, overlapping, ownerOf, readLinkObject } from '../link/links.ts';
export { recordedClusters } from '../link/records.ts';
export type { FederationFacts } from './federation.ts';
export type { GatewayView } from '../mirror/observed.ts';
export { discoveredBy } from '../source/discovery.ts';
export { familiesOfIPs, familiesOfService } from '../source/families.ts';
export { forecast, type Forecast, type ForecastChange, type LinkForecast } from './forecast.ts';
export type { LeftCluster, ServedLink } from './party.ts';
export { ListedTarget, wantedByName } from './listed-target.ts';
export { isAssigned, ModelCluster } from './model.ts';
