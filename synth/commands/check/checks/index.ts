/** All checks of an extension that is installed, in the order in which they are printed. */
import type { Check } from '../check-type.ts';
import type { Survey } from '../survey.ts';
import { CLUSTER_CHECKS } from './cluster.ts';
import { CREDENTIALS_CHECKS } from './credentials.ts';
import { FAILOVER_CHECKS } from './failovers.ts';
import { FEDERATION_CHECKS } from './federation.ts';
import { GATEWAY_CHECKS } from './gateways.ts';
import { IDENTITY_CHECKS } from './identity.ts';
import { IMPORT_CHECKS } from './imports.ts';
import { LINK_CHECKS } from './links.ts';
import { MIRROR_CHECKS } from './mirrors.ts';
import { OPERATOR_CHECKS } from './operator.ts';

export const CHECKS: readonly Check<Survey>[] = [
  ...CLUSTER_CHECKS,
  ...OPERATOR_CHECKS,
  ...LINK_CHECKS,
  ...CREDENTIALS_CHECKS,
  ...IDENTITY_CHECKS,
  ...GATEWAY_CHECKS,
  ...MIRROR_CHECKS,
  ...FEDERATION_CHECKS,
  ...IMPORT_CHECKS,
  ...FAILOVER_CHECKS,
];
