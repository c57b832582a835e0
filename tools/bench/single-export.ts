/** One export alone, while everything else is at rest: from the write of the label until the mirror is seen ready. */
import { percentile, type Row } from './report.ts';
import { addServices, labelServices } from './services.ts';
import type { Stage } from './stage.ts';

const SAMPLES = 100;

export const measureSingleExports = async (stage: Stage): Promise<readonly Row[]> => {
  const { watch, west } = stage;
  const services = Array.from({ length: SAMPLES }, (_, index) => `single-${index}`);
  await addServices(west, services);
  const samples: number[] = [];
  for (const name of services) {
    const began = performance.now();
    const ready = watch.until(`${name} is mirrored`, () => watch.readiness(`${name}-west`) === 'ready', 30_000);
    await labelServices(west, [name], 'true');
    await ready;
    samples.push(performance.now() - began);
  }
  await labelServices(west, services, null);
  await watch.until('the samples are gone', () =>
    services.every((name) => watch.readiness(`${name}-west`) === undefined),
  );
  return [
    { measure: `one export → ready, p50 of ${SAMPLES}`, value: percentile(samples, 0.5), unit: 'ms', goal: 50 },
    { measure: '  p99', value: percentile(samples, 0.99), unit: 'ms' },
  ];
};
