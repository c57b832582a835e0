/**
 * `node tools/bench/synth.ts [--clusters 50]`: `linkspan synth` of a full mesh, as a process of its own: time and
 * memory, beside their goals, of a first run into an empty folder and of a second that finds nothing to do.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { clusterFile, clusterSetProps } from '../../test/support/cluster-file.ts';
import { isOver, type Row, table } from './report.ts';

const CLI = new URL('../../synth/cli.ts', import.meta.url).pathname;
const GOAL_S = 10;

const { values } = parseArgs({ options: { clusters: { type: 'string', default: '50' } } });
const clusters = Number(values.clusters);
if (!Number.isInteger(clusters) || clusters < 2) throw new RangeError(`--clusters ${values.clusters}: at least 2`);

/** Makes a process print its peak memory when it exits. */
const REPORT_MEMORY =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(String(process.resourceUsage().maxRSS)))';

const measure = (name: string, args: readonly string[]): Promise<readonly Row[]> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(process.execPath, ['--import', REPORT_MEMORY, CLI, 'synth', ...args], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.once('error', reject).once('close', (code) => {
      if (code === 0) {
        resolve([
          { measure: name, value: (performance.now() - began) / 1000, unit: 's', goal: GOAL_S },
          { measure: '  memory', value: Number(stderr) / 1024, unit: 'MB' },
        ]);
      } else {
        reject(new Error(`linkspan synth exited ${String(code)}: ${stderr}`));
      }
    });
  });

const folder = await mkdtemp(join(tmpdir(), 'linkspan-synth-'));
try {
  const file = join(folder, 'linkspan.yaml');
  await writeFile(file, clusterFile(clusterSetProps(clusters)));
  const args = ['-f', file, '-o', join(folder, 'out')];
  const rows = [
    { measure: 'Links', value: clusters * (clusters - 1), unit: '' },
    ...(await measure(`synth of ${clusters} clusters in full mesh`, args)),
    ...(await measure('--check of the same, which finds no difference', [...args, '--check'])),
  ];
  console.log(table(rows));
  if (rows.some(isOver)) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}
