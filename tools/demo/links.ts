/** The Links from east to the targets of the play of failover, as a user writes them: in a loop. */
import type { Chart } from 'cdk8s';
import { type ApiJson, Link, LinkCredentials, render } from '../../constructs/index.ts';
import { bodyOf } from './source.ts';

/** A target, and how it is reached. */
export interface Target {
  readonly name: string;
  readonly gateway: string;
  readonly access: { readonly server: string; readonly caData: string; readonly token: string };
}

const compose = (chart: Chart, targets: readonly Target[]): void => {
  for (const { name, gateway, access } of targets) {
    new LinkCredentials(chart, `credentials-${name}`, { targetCluster: name, ...access, copies: 'link' });

    new Link(chart, `link-${name}`, {
      targetCluster: name,
      gatewayAddresses: [gateway],
      federation: 'gateway',
      probe: { period: '250ms', timeout: '1s', failureThreshold: 3 },
    });
  }
};

/** The body of that function. */
export const LINKS_SOURCE = bodyOf(compose);

/** What the constructs render: a Secret and a Link for each target. */
export const linksTo = (targets: readonly Target[]): readonly ApiJson[] => render((chart) => compose(chart, targets));
