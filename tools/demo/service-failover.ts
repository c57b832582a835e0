/** The ServiceFailover of the demo, as a user writes it. */
import type { Chart } from 'cdk8s';
import { type ApiJson, render, ServiceFailover } from '../../constructs/index.ts';
import { bodyOf } from './source.ts';

const compose = (chart: Chart): void => {
  new ServiceFailover(chart, 'failover', {
    service: 'web',
    backends: [
      { service: 'web' },
      { service: 'web', targetCluster: 'west' },
      { service: 'web', targetCluster: 'north' },
    ],
    holdDown: '3s',
  });
};

/** The body of that function. */
export const FAILOVER_SOURCE = bodyOf(compose);

/** The hold-down in it, in milliseconds. */
export const HOLD_DOWN_MS = 3_000;

/** What the construct renders: one object. */
export const failover = (): readonly ApiJson[] => render(compose);
