/**
 * What the image holds, without a registry of images: the packed package and `npm ci --omit=dev` by the lock file, as
 * the Dockerfile has it, and Node. It runs as a user of no rights from files that nobody may write.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { linkCrd } from '../../../crds/link/definition.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { installCrd } from '../../cluster/workload/index.ts';
import { Processes } from '../../cluster/real/processes.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { output, pack, ROOT } from './packed.ts';

const INSTALL_MS = 240_000;
const NOBODY = 65_534;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Text of the Dockerfile. */
interface Image {
  /** Arguments of the npm that installs. */
  readonly install: readonly string[];
  readonly entrypoint: readonly string[];
  readonly user: string;
  readonly nodeOptions: string;
}

const readImage = async (): Promise<Image> => {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const found = (pattern: RegExp): string => pattern.exec(dockerfile)?.[1] ?? `none like ${pattern.source}`;
  return {
    install: found(/^RUN npm (ci --omit=dev .*)$/m).split(' '),
    entrypoint: JSON.parse(found(/^ENTRYPOINT (.*)$/m)) as readonly string[],
    user: found(/^USER (.*)$/m),
    nodeOptions: found(/^ENV .*NODE_OPTIONS=(\S+)/m),
  };
};

/** Another user's, where there is a choice; a test that is not run as root runs it as its own. */
const unprivileged = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

describe('the image', () => {
  let directory: string;
  /** The root of its file system. */
  let root: string;
  let image: Image;
  let manifest: Manifest;
  let cluster: SimulatedCluster;
  const children: ChildProcess[] = [];
  /** They end with the test process, however that ends. */
  const processes = new Processes('image');

  const app = (...path: readonly string[]): string => join(root, 'app', ...path);

  /** Starts its Node, which is all that there is in PATH. */
  const start = (...args: readonly string[]): ChildProcess => {
    const child = spawn(join(root, 'nodejs', 'bin', 'node'), args, {
      ...unprivileged,
      cwd: app(),
      env: { PATH: join(root, 'nodejs', 'bin'), NODE_ENV: 'production', NODE_OPTIONS: image.nodeOptions },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    processes.watchOver(child);
    return child;
  };

  beforeAll(async () => {
    image = await readImage();
    manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    cluster = await startSimulated({ name: 'image' });
    await installCrd(cluster, linkCrd);
    cluster.store.upsert({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: LINKS_NAMESPACE } });

    directory = await mkdtemp(join(tmpdir(), 'linkspan-image-'));
    root = join(directory, 'root');
    await mkdir(app(), { recursive: true });
    await mkdir(join(root, 'nodejs', 'bin'), { recursive: true });
    await copyFile(process.execPath, join(root, 'nodejs', 'bin', 'node'));
    const { tarball } = await pack(directory);
    await output(directory, 'tar', '-xzf', tarball, '--strip-components', '1', '-C', app());
    await copyFile(join(ROOT, 'package-lock.json'), app('package-lock.json'));
    await output(app(), 'npm', ...image.install, '--prefix', app(), '--prefer-offline');
    await writeFile(join(root, 'kubeconfig'), cluster.kubeconfig);
    await output(directory, 'chmod', '-R', 'a-w,a+rX', root);
    await chmod(directory, 0o755);
  }, INSTALL_MS);

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await processes.close();
    await cluster.stop();
    await output(directory, 'chmod', '-R', 'u+w', root);
    await rm(directory, { recursive: true });
  });

  test('has what runs and nothing of what builds', async () => {
    const size = (path: string): Promise<string> => output(directory, 'du', '-sh', '--apparent-size', path);
    const packages = await readdir(app('node_modules'));
    console.log(
      `install: ${(await size(app())).split('\t')[0]!}, of it dist ${(await size(app('dist'))).split('\t')[0]!}`,
    );

    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const present = await Promise.all(
      needed.map((name) => readdir(app('node_modules', ...name.split('/'))).then(() => name)),
    );
    expect(present).toEqual(needed);
    // client-node depends on the types by itself.
    const isTool = (name: string): boolean => !name.startsWith('@types/') && !(name in manifest.peerDependencies);
    const tools = Object.keys(manifest.devDependencies).filter(isTool);
    expect(tools.filter((name) => packages.includes(name))).toEqual([]);
    expect((await readdir(app())).sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'node_modules', 'package-lock.json', 'package.json'].sort(),
    );
  });

  test('is what the Deployment takes it for', () => {
    const objects = render((chart) => {
      new MirrorOperator(chart, 'operator', { image: 'linkspan' });
    });
    const container = {
      env: expect.arrayContaining([{ name: 'NODE_OPTIONS', value: image.nodeOptions }]) as unknown,
      securityContext: { runAsUser: Number(image.user.split(':')[0]), runAsGroup: Number(image.user.split(':')[1]) },
    };
    expect(objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({
      spec: { template: { spec: { containers: [container] } } },
    });
    expect(image.entrypoint[0]).toBe('/nodejs/bin/node');
    expect(image.entrypoint.at(-1)).toBe('/app/dist/synth/cli.js');
  });

  test('cannot be written to by who runs it', async () => {
    const child = start('-e', `require('node:fs').writeFileSync(${JSON.stringify(app('dist', 'new.js'))}, '')`);
    const said = text(child.stderr!);
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(1);
    expect(await said).toMatch(/EACCES|EROFS/);
  });

  test('has an operator that comes up, reports that it is healthy, and stops on SIGTERM', async () => {
    const flags = [`--kubeconfig=${join(root, 'kubeconfig')}`, '--admin-address=127.0.0.1:0', '--log-format=json'];
    const child = start(...image.entrypoint.slice(1, -1), app('dist', 'synth', 'cli.js'), 'operator', ...flags);
    const ended = once(child, 'exit');
    const said: string[] = [];
    child.stderr!.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const up = new Promise<{ readonly port: number }>((resolve, reject) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        said.push(line);
        if (line.includes('linkspan operator starts')) resolve(JSON.parse(line) as { readonly port: number });
      });
      child.once('exit', (code) => reject(new Error(`the operator ended with ${code}: ${said.join('\n')}`)));
    });
    const { port } = await up;

    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status, { timeout: 20_000 })
      .toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
