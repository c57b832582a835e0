/** The features that a history may have. */
import { crowdFeature } from './crowd.ts';
import { denialsFeature } from './denials.ts';
import { failoverFeature } from './failover.ts';
import { federationFeature } from './federation.ts';
import { importsFeature } from './imports.ts';
import { localFeature } from './local.ts';
import { podsFeature } from './pods.ts';
import type { Feature } from './part.ts';

export const FEATURES: readonly Feature[] = [
  localFeature,
  federationFeature,
  failoverFeature,
  importsFeature,
  crowdFeature,
  denialsFeature,
  podsFeature,
];
