/**
 * `npm run test:mesh`: runs the suite in network, mount and process namespaces of its own. Two runs never meet, and
 * however a run ends, the kernel ends its processes and removes its networks with the first process of the namespace:
 * nothing is left that a later run would have to clean. Exits with 2, and says why, where the suite cannot run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { buildMissing, hasGo } from '../cluster/real/build.ts';
import { missingBinaries } from '../cluster/real/binaries.ts';
import { endWithNpm } from '../cluster/real/npm-parent.ts';
import { Processes } from '../cluster/real/processes.ts';
import { goModule } from '../support/go-module.ts';
import { missingLinkerd } from './binaries.ts';
import { INSIDE_VARIABLE } from './inside.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAMS: readonly (readonly [string, string])[] = [
  ['unshare', 'util-linux'],
  ['nsenter', 'util-linux'],
  ['ip', 'iproute2'],
  ['iptables', 'iptables'],
  ['openssl', 'openssl'],
];
const CANNOT_RUN = 2;

/** Namespaces of a run; the first process in them ends with the one that unshares. */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'];
/** Who is not root is root of a user namespace, which has to have more users than that: a proxy has one of its own. */
const AS_ROOT = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user', '--map-auto'];

/** `/run` is the run's own: trust roots that Linkerd looks for there, and the lock of iptables. */
const PREPARE = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"';

/** Why the suite cannot run here; undefined if it can. */
const unavailable = (): string | undefined => {
  if (process.platform !== 'linux') return 'it needs Linux: its pods are network namespaces';
  const linkerd = missingLinkerd(process.env);
  if (linkerd !== undefined) return linkerd;
  for (const [program, debian] of PROGRAMS) {
    if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined) {
      return `${program} is not in PATH (on Debian: apt-get install ${debian})`;
    }
  }
  if (missingBinaries().length > 0 && !hasGo()) return 'the API servers are not built, and there is no Go 1.26';
  const tried = spawnSync('unshare', [...AS_ROOT, ...NAMESPACES, 'sh', '-c', PREPARE, 'sh', 'true'], {
    encoding: 'utf8',
  });
  if (tried.status === 0) return undefined;
  return (
    `it needs root, or a user who may make namespaces and has a range of users in /etc/subuid and /etc/subgid ` +
    `(newuidmap, on Debian: apt-get install uidmap); unshare says: ${tried.stderr.trim()}`
  );
};

const run = async (args: readonly string[]): Promise<number> => {
  await buildMissing((line) => console.log(line));
  // There is no way out of the namespace: what Go fetches is fetched before.
  goModule('sigs.k8s.io/gateway-api', 'v1.6.3');
  const processes = new Processes('mesh');
  // A proxy is another user, and its files are below.
  chmodSync(processes.dir, 0o755);
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const command = [process.execPath, vitest, 'run', '--config', 'test/mesh/vitest.config.ts', ...args];
  const child = spawn('unshare', [...AS_ROOT, ...NAMESPACES, 'sh', '-c', PREPARE, 'sh', ...command], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    // Process ids within are not those of this machine, and temporary folders are known by them.
    env: { ...process.env, TMPDIR: processes.dir, [INSIDE_VARIABLE]: 'true', npm_lifecycle_event: undefined },
  });
  processes.watchOver(child);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill('SIGKILL'));
  const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? 1)));
  await processes.close();
  return code;
};

endWithNpm();
const reason = unavailable();
if (reason !== undefined) console.error(`npm run test:mesh cannot run: ${reason}`);
process.exitCode = reason === undefined ? await run(process.argv.slice(2)) : CANNOT_RUN;
