/**
 * `npm run bench`: the operator measured on real API servers, each figure beside its goal. Figures of one run compare
 * with each other; those of different machines, or of one machine on different days, do not.
 *
 *     npm run bench -- [--services 1000] [--only export|single|gateway|idle] [--minutes 5] [--json] [--cpu-prof DIR] [--as-pod]
 *     npm run bench -- --only fleet [--links 20] [--services 500] [--minutes 2] …
 *     npm run bench -- --only federated [--services 500] [--minutes 1] …
 *     npm run bench -- --only slow [--pods 2000] …
 *     npm run bench -- --only hostile …
 *     npm run bench -- --only pods [--links 20] [--pods 1000,5000,10000] …
 *     npm run bench -- --only take-over …
 *
 * `--services` counts those of each Link. What has a line of its own takes long, and is measured only when it is asked for.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { missingBinaries } from '../../test/cluster/real/binaries.ts';
import { endWithNpm } from '../../test/cluster/real/npm-parent.ts';
import { measureExports } from './exports.ts';
import { measureFederated, setFederated } from './federated.ts';
import { measureFleet, setFleet } from './fleet.ts';
import { measureGatewayDeath } from './gateway-death.ts';
import { measureIdle } from './idle.ts';
import { measureHostile, setHostile } from './hostile.ts';
import { isOver, type Row, table } from './report.ts';
import { measurePods, setPods } from './pods.ts';
import { measureSlow, setSlow } from './slow.ts';
import { measureSingleExports } from './single-export.ts';
import { addServices, labelServices } from './services.ts';
import { Stage, type StageOptions } from './stage.ts';
import { measureTakeOver, setTakeOver } from './take-over.ts';

/** What is measured on one stage, in this order. */
const MEASUREMENTS = ['export', 'single', 'gateway', 'idle'] as const;
/** What is measured on a stage of its own. */
const OTHERS = ['fleet', 'federated', 'slow', 'hostile', 'pods', 'take-over'];
type Measurement = (typeof MEASUREMENTS)[number];

const { values } = parseArgs({
  options: {
    services: { type: 'string' },
    links: { type: 'string', default: '20' },
    pods: { type: 'string' },
    only: { type: 'string', multiple: true, default: [...MEASUREMENTS] },
    minutes: { type: 'string' },
    json: { type: 'boolean', default: false },
    'cpu-prof': { type: 'string' },
    'as-pod': { type: 'boolean', default: false },
  },
});

endWithNpm();

const positive = (flag: string, text: string): number => {
  const value = Number(text);
  if (value > 0) return value;
  throw new RangeError(`--${flag} ${text}: must be a number above 0`);
};

const isMeasurement = (name: string): name is Measurement => MEASUREMENTS.some((each) => each === name);

const run = async (): Promise<readonly Row[]> => {
  const only = values.only.flatMap((names) => names.split(','));
  const wanted = only.filter(isMeasurement);
  const unknown = only.find((name) => !isMeasurement(name) && !OTHERS.includes(name));
  if (unknown !== undefined) {
    throw new RangeError(`--only ${unknown}: must be one of ${[...MEASUREMENTS, ...OTHERS].join(', ')}`);
  }
  const missing = missingBinaries();
  if (missing.length > 0) throw new Error(`${missing.join(', ')} are not built: run \`npm run cluster:build\``);

  progress('the package is built');
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const profile = values['cpu-prof'];
  const options = {
    nodeFlags: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
    asPod: values['as-pod'],
  };
  return [
    ...(wanted.length > 0 ? await runOneLink(wanted, options) : []),
    ...(only.includes('fleet') ? await runFleet(options) : []),
    ...(only.includes('federated') ? await runFederated(options) : []),
    ...(only.includes('slow') ? await runSlow(options) : []),
    ...(only.includes('hostile') ? await runHostile(options) : []),
    ...(only.includes('pods') ? await runPods(options) : []),
    ...(only.includes('take-over') ? await runTakeOver(options) : []),
  ];
};

const runOneLink = async (wanted: readonly Measurement[], options: OperatorOptions): Promise<readonly Row[]> => {
  const count = Math.round(positive('services', values.services ?? '1000'));
  const minutes = positive('minutes', values.minutes ?? '5');
  const rows: Row[] = [];
  const stage = await Stage.set({ ...options, links: { west: {} }, runsPods: true });
  try {
    const services = Array.from({ length: count }, (_, index) => `web-${index}`);
    progress(`${count} Services are started`);
    await addServices(stage.west, services);
    if (!wanted.includes('export')) await exportAll(stage, services);
    for (const each of MEASUREMENTS.filter((name) => wanted.includes(name))) {
      progress(`measuring: ${each}`);
      rows.push(...(await measure(each, stage, services, minutes)));
    }
    return rows;
  } finally {
    await stage.stop();
  }
};

type OperatorOptions = Pick<StageOptions, 'nodeFlags' | 'asPod'>;

const onStage = async (setting: Promise<Stage>, run: (stage: Stage) => Promise<readonly Row[]>) => {
  const stage = await setting;
  try {
    return await run(stage);
  } finally {
    await stage.stop();
  }
};

const runFleet = (options: OperatorOptions): Promise<readonly Row[]> => {
  const links = Math.round(positive('links', values.links));
  const services = Math.round(positive('services', values.services ?? '500'));
  const minutes = positive('minutes', values.minutes ?? '2');
  return onStage(setFleet(links, options), (stage) => measureFleet(stage, services, minutes, progress));
};

const runFederated = (options: OperatorOptions): Promise<readonly Row[]> => {
  const services = Math.round(positive('services', values.services ?? '500'));
  const minutes = positive('minutes', values.minutes ?? '1');
  return onStage(setFederated(options), (stage) => measureFederated(stage, services, minutes, progress));
};

const runSlow = (options: OperatorOptions): Promise<readonly Row[]> => {
  const pods = Math.round(positive('pods', values.pods ?? '2000'));
  return onStage(setSlow(options), (stage) => measureSlow(stage, pods, progress));
};

const runHostile = (options: OperatorOptions): Promise<readonly Row[]> =>
  onStage(setHostile(options), (stage) => measureHostile(stage, progress));

const runPods = (options: OperatorOptions): Promise<readonly Row[]> => {
  const links = Math.round(positive('links', values.links));
  const sizes = (values.pods ?? '1000,5000,10000').split(',').map((size) => Math.round(positive('pods', size)));
  return onStage(setPods(links, options), (stage) => measurePods(stage, sizes, progress));
};

const runTakeOver = (options: OperatorOptions): Promise<readonly Row[]> =>
  onStage(setTakeOver(options), (stage) => measureTakeOver(stage, progress));

const measure = (
  what: Measurement,
  stage: Stage,
  services: readonly string[],
  minutes: number,
): Promise<readonly Row[]> => {
  switch (what) {
    case 'export':
      return measureExports(stage, services);
    case 'single':
      return measureSingleExports(stage);
    case 'gateway':
      return measureGatewayDeath(stage);
    case 'idle':
      return measureIdle(stage, minutes);
  }
};

const progress = (what: string): void => {
  process.stderr.write(`${what}\n`);
};

/** What the other measurements start from. */
const exportAll = async (stage: Stage, services: readonly string[]): Promise<void> => {
  await stage.startOperator();
  await labelServices(stage.west, services, 'true');
  await stage.watch.until('every mirror is ready', () => stage.watch.count('west', 'ready') >= services.length);
};

try {
  const rows = await run();
  const over = rows.filter(isOver).length;
  console.log(values.json ? JSON.stringify(rows, null, 2) : table(rows));
  if (!values.json) console.log(over === 0 ? '\nevery goal is met' : `\n${over} over their goal`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
