/** The demo as its users start it: a process, whose stdout, exit code and leftovers are checked. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backing } from '../cluster/index.ts';
import { findBinary } from '../cluster/real/binaries.ts';
import { eventually } from '../cluster/workload/eventually.ts';
import { onBothBackings } from '../cluster/on-each-backing.ts';

const MAIN = join(import.meta.dirname, '../../tools/demo/main.ts');
const FLAGS: Readonly<Record<Backing, readonly string[]>> = { simulated: [], real: ['--real'] };
const TIMEOUT_MS = 120_000;

const installedKubectl = spawnSync('kubectl', ['version', '--client']).status === 0 ? 'kubectl' : undefined;
const kubectlBinary = findBinary('kubectl') ?? installedKubectl;

/** A run of the demo, with a directory of its own for temporary files. */
class Demo {
  readonly #child: ChildProcess;
  readonly #temp: string;
  readonly #ended: Promise<number>;
  stdout = '';
  stderr = '';

  constructor(
    args: readonly string[],
    temp: string,
    env: Readonly<Record<string, string>> = {},
    [program, ...before]: readonly [string, ...(readonly string[])] = [process.execPath, MAIN],
  ) {
    this.#temp = temp;
    this.#child = spawn(program, [...before, ...args], {
      env: { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1', TMPDIR: temp, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#ended = once(this.#child, 'close').then(([code]) => code as number);
  }

  /** Waits for its end, and that of what it started; returns the exit code. */
  ended(): Promise<number> {
    return this.#ended;
  }

  interrupt(signal: NodeJS.Signals = 'SIGINT'): void {
    this.#child.kill(signal);
  }

  /** Waits for a line that begins so; returns the rest of it. */
  async line(start: string): Promise<string> {
    const wanted = `\n${start}`;
    return eventually(
      `the demo prints "${start}"`,
      async () => {
        if (this.#child.exitCode !== null) return `the demo has ended: ${this.stderr}`;
        const at = this.stdout.indexOf(wanted);
        const end = this.stdout.indexOf('\n', at + 1);
        return at !== -1 && end !== -1 && this.stdout.slice(at + wanted.length, end);
      },
      TIMEOUT_MS,
    );
  }

  /** Waits until no file and no process of the run is left: what watches over them ends a moment after it. */
  async leavesNothing(): Promise<void> {
    await eventually('nothing is left', async () => {
      const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
      const processes = stdout.split('\n').filter((args) => args.includes(this.#temp));
      expect([...(await readdir(this.#temp)), ...processes]).toEqual([]);
      return true;
    });
  }

  /** Ends it whatever it does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

let temp: string;
let demo: Demo | undefined;

beforeEach(async () => {
  temp = await mkdtemp(join(tmpdir(), 'linkspan-demo-test-'));
});

afterEach(async () => {
  await demo?.kill();
  demo = undefined;
  await rm(temp, { recursive: true, force: true });
});

/** What was printed under a command, each time it was typed. */
const outputsOf = (stdout: string, command: string): readonly string[] =>
  stdout.split('\n\n').flatMap((block) => (block.startsWith(`$ ${command}\n`) ? [block] : []));

const firstColumn = (block: string): readonly string[] =>
  block
    .split('\n')
    .slice(2)
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split(/ +/)[0]!);

onBothBackings('the demo', (backing) => {
  it('plays the guide: what is in east follows what west exports, pod by pod', { timeout: TIMEOUT_MS }, async () => {
    demo = new Demo(FLAGS[backing], temp);
    expect(await demo.ended(), demo.stderr).toBe(0);

    const { stdout } = demo;
    expect(stdout).toContain('service/nginx-svc labeled');
    const mirrors = (...pods: readonly number[]): readonly string[] => [
      'kubernetes',
      ...pods.map((pod) => `nginx-set-${pod}-west`),
      'nginx-svc-west',
    ];
    const services = outputsOf(stdout, 'kubectl --context=east get services');
    expect(services.map(firstColumn)).toEqual([mirrors(0, 1, 2), mirrors(0, 1, 2, 3), mirrors(0, 1), ['kubernetes']]);
    expect(services[0]).toMatch(/^nginx-svc-west +ClusterIP +None +<none> +80\/TCP +\d+s$/m);

    const [, address] = /^nginx-set-0-west +ClusterIP +([\d.]+) /m.exec(services[0]!)!;
    expect(outputsOf(stdout, 'kubectl --context=east get endpoints nginx-svc-west -o yaml')[0]).toContain(
      `subsets:\n- addresses:\n  - hostname: nginx-set-0\n    ip: ${address!}\n  - hostname: nginx-set-1\n`,
    );

    const links = outputsOf(stdout, 'kubectl --context=east -n linkerd-multicluster get links');
    expect(links.map((block) => / +west +(\w+) +\w+ +(\w+) +(\d)/.exec(block)?.slice(1).join(' '))).toEqual([
      'True True 0',
      'False False 1',
      'True True 1',
    ]);
    const gateway = outputsOf(stdout, 'kubectl --context=east get endpoints nginx-set-0-west -o yaml');
    expect(gateway.map((block) => block.includes('notReadyAddresses:\n  - ip: 203.0.113.10'))).toEqual([
      false,
      true,
      false,
    ]);
    await demo.leavesNothing();
  });

  it('plays failover: weights move as pods and gateways come and go', { timeout: TIMEOUT_MS }, async () => {
    demo = new Demo(['failover', ...FLAGS[backing]], temp);
    expect(await demo.ended(), demo.stderr).toBe(0);

    const { stdout } = demo;
    const actives = outputsOf(stdout, 'kubectl --context=east get servicefailovers').map(
      (block) => /^web +web +(\S+) /m.exec(block)?.[1],
    );
    expect(actives).toEqual(['web', 'web-west', 'web-north', 'web']);
    const [route] = outputsOf(stdout, 'kubectl --context=east get httproute web-80 -o yaml');
    expect(route).toContain('kind: Service\n    name: web\n    namespace: default\n    port: 80\n');
    const history = stdout.slice(stdout.indexOf('\nAFTER ')).split('\n\n')[0]!;
    const weights = history
      .split('\n')
      .flatMap((line) => /^[0-9.]+ m?s +(\d+) +(\d+) +(\d+)$/.exec(line)?.slice(1).join('') ?? []);
    expect(weights).toEqual(['100', '010', '001', '010', '100']);
    const columns = 'NAME:.metadata.name,ADDRESSES:.endpoints[*].addresses[*],READY:.endpoints[*].conditions.ready';
    const slices = 'get endpointslices -l kubernetes.io/service-name=web-federated';
    const members = outputsOf(stdout, `kubectl --context=east ${slices} -o custom-columns='${columns}'`);
    expect(members.map((block) => /^web-federated.north-ipv4 +198.51.100.10 +(\w+)$/m.exec(block)?.[1])).toEqual([
      'true',
      'false',
      'true',
    ]);
    await demo.leavesNothing();
  });

  it.runIf(kubectlBinary !== undefined)(
    'keeps both clusters and the operator, for a stock kubectl, until Ctrl-C',
    { timeout: 2 * TIMEOUT_MS },
    async () => {
      demo = new Demo([...FLAGS[backing], '--keep'], temp);
      const KUBECONFIG = await demo.line('export KUBECONFIG=');
      const kubectl = async (...args: readonly string[]): Promise<string> => {
        const env = { ...process.env, KUBECONFIG, HOME: temp };
        return (await promisify(execFile)(kubectlBinary!, args, { env, timeout: 30_000 })).stdout;
      };
      const mirrored = (name: string): Promise<boolean> =>
        kubectl('--context=east', 'get', 'services', '-o', 'name').then((names) => names.includes(`service/${name}\n`));

      const label = ['--context=west', 'label', 'service', 'nginx-svc'];
      expect(await kubectl(...label, 'mirror.linkerd.io/exported=true')).toBe('service/nginx-svc labeled\n');
      await eventually('it is mirrored', () => mirrored('nginx-set-1-west'));

      expect(await kubectl('--context=west', 'scale', 'statefulset', 'nginx-set', '--replicas=5')).toBe(
        'statefulset.apps/nginx-set scaled\n',
      );
      await eventually('the fifth pod is mirrored', () => mirrored('nginx-set-4-west'));

      const described = await kubectl('--context=east', 'describe', 'service', 'nginx-set-4-west');
      expect(described).toMatch(/^Labels: +mirror.linkerd.io\/cluster-name=west$/m);
      expect(await kubectl('--context=east', '-n', 'linkerd-multicluster', 'describe', 'link', 'west')).toMatch(
        /^ +Target Cluster Name: +west$/m,
      );

      const uid = ['--context=east', 'get', 'service', 'nginx-set-0-west', '-o', 'jsonpath={.metadata.uid}'];
      const before = await kubectl(...uid);
      expect(await kubectl('--context=east', 'delete', 'service', 'nginx-set-0-west')).toContain('deleted');
      await eventually('it is mirrored anew', async () => ![before, ''].includes(await kubectl(...uid)));

      expect(await kubectl(...label, 'mirror.linkerd.io/exported-')).toBe('service/nginx-svc unlabeled\n');
      await eventually('nothing is mirrored', async () => !(await mirrored('nginx-svc-west')));

      demo.interrupt();
      expect(await demo.ended(), demo.stderr).toBe(0);
      await rm(join(temp, '.kube'), { recursive: true, force: true });
      await demo.leavesNothing();
    },
  );
});

describe('the demo, when all does not go well', () => {
  it('reports a step that fails, with the log of the operator', async () => {
    demo = new Demo([], temp, { LINKSPAN_CONCURRENCY: '0' });
    expect(await demo.ended()).toBe(1);
    expect(demo.stderr).toContain('LINKSPAN_CONCURRENCY: "0" must be a whole number between 1 and 256');
    expect(demo.stderr).toContain('The demo has failed: the operator has ended by itself');
    await demo.leavesNothing();
  });

  it('stops at Ctrl-C, and leaves nothing behind', async () => {
    demo = new Demo([], temp);
    await demo.line('$ node synth/cli.ts operator');
    demo.interrupt();
    demo.interrupt();
    expect(await demo.ended()).toBe(130);
    expect(demo.stderr).toBe('');
    await demo.leavesNothing();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('ends with its npm, by %s, and leaves nothing behind', async (signal) => {
    demo = new Demo(['--keep'], temp, {}, ['npm', 'run', 'demo', '--']);
    await demo.line('$ node synth/cli.ts operator');
    demo.interrupt(signal);
    await demo.ended();
    await demo.leavesNothing();
  });

  it.each([['--bogus'], ['extra']])('refuses %s as a usage error', async (argument) => {
    demo = new Demo([argument], temp);
    expect(await demo.ended()).toBe(2);
    expect(demo.stderr).toContain(argument);
  });

  it('explains itself', async () => {
    demo = new Demo(['--help'], temp);
    expect(await demo.ended()).toBe(0);
    expect(demo.stdout).toContain('--real');
    expect(demo.stdout).toContain('--keep');
    expect(demo.stdout).toContain('"guide", "failover"');
  });
});
