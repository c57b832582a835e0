/**
 * The Link from east to west, as a user writes it: two constructs. The demo prints the source of the function that
 * makes it.
 */
import type { Chart } from 'cdk8s';
import { type ApiJson, Link, LinkCredentials, render } from '../../constructs/index.ts';
import { bodyOf } from './source.ts';

/** How west is reached. */
interface Target {
  readonly server: string;
  readonly caData: string;
  readonly token: string;
}

const compose = (chart: Chart, west: Target): void => {
  new LinkCredentials(chart, 'credentials', {
    targetCluster: 'west',
    ...west, // its URL, CA and token
    copies: 'link',
  });

  new Link(chart, 'link', {
    targetCluster: 'west',
    gatewayAddresses: ['203.0.113.10'],
    probe: { period: '500ms', timeout: '1s', failureThreshold: 3 },
  });
};

/** The body of that function. */
export const LINK_SOURCE = bodyOf(compose);

/** What the constructs render: a Secret and a Link. */
export const linkToWest = (west: Target): readonly ApiJson[] => render((chart) => compose(chart, west));
