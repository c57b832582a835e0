import { expect, it } from 'vitest';
import { latenciesIn } from '../../../../synth/commands/gateways/latency.ts';

it('the latency of each target is read from metrics, and garbage is passed over', () => {
  const metrics = [
    '# TYPE gateway_latency gauge',
    'gateway_latency{target_cluster_name="west"} 12',
    'gateway_latency{a="b",target_cluster_name="north",c="d"} 3.6',
    'gateway_latency{target_cluster_name="south"} NaN',
    'gateway_alive{target_cluster_name="east"} 1',
    'gateway_latency west 1',
  ].join('\n');
  expect([...latenciesIn(metrics)]).toEqual([
    ['west', 12],
    ['north', 4],
  ]);
});
