/**
 * The package in a project as `cdk8s init typescript-app` makes it: CommonJS, `node10` resolution, ts-node and Jest, whose
 * settings are left as they are. Only its chart and its test are a user's.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { output, pack } from './packed.ts';

const INSTALL_MS = 240_000;
const RUN_MS = 120_000;

/** As the template has them: cdk8s-cli 2.207. Left out: cdk8s-cli, and `cdk8s import`, which downloads. */
const DEPENDENCIES = { cdk8s: '^2.70.106', 'cdk8s-plus-33': '^2.5.57', constructs: '^10.8.1' };
const DEV_DEPENDENCIES = {
  '@types/node': '^14',
  '@types/jest': '^29',
  jest: '^29',
  'ts-jest': '^29',
  typescript: '5.9.x',
  'ts-node': '^10',
};

const TSCONFIG = {
  compilerOptions: {
    alwaysStrict: true,
    declaration: true,
    experimentalDecorators: true,
    inlineSourceMap: true,
    inlineSources: true,
    lib: ['es2016'],
    module: 'CommonJS',
    noEmit: false,
    noEmitOnError: true,
    noFallthroughCasesInSwitch: true,
    noImplicitAny: true,
    noImplicitReturns: true,
    noImplicitThis: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    resolveJsonModule: true,
    strict: true,
    strictNullChecks: true,
    strictPropertyInitialization: true,
    stripInternal: true,
    target: 'ES2017',
  },
  include: ['**/*.ts'],
  exclude: ['node_modules'],
};

const JEST_CONFIG = `module.exports = {
  roots: ['<rootDir>'],
  moduleFileExtensions: ['ts', 'tsx', 'js', 'mjs', 'cjs', 'jsx', 'json', 'node'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\\\.tsx?$': 'ts-jest' },
};
`;

/** The chart of the template, with constructs of ours beside those of another cdk8s-plus than they are built on. */
const MAIN = `import { Construct } from 'constructs';
import { App, Chart, ChartProps } from 'cdk8s';
import { Role, Service } from 'cdk8s-plus-33';
import { Exported, Gateway, Link, MirrorOperator, ServiceRoute } from 'linkspan';

export class MyChart extends Chart {
  constructor(scope: Construct, id: string, props: ChartProps = {}) {
    super(scope, id, props);

    new Gateway(this, 'Gateway');
    const operator = new MirrorOperator(this, 'Operator', { image: 'registry.example.com/linkspan:0.1.0' });
    new Role(this, 'Role', { metadata: { name: 'mine' } }).bind(operator.serviceAccount);
    new Link(this, 'West', { targetCluster: 'west', gatewayAddresses: ['203.0.113.10'] });
    const web = new Service(this, 'Web', { metadata: { name: 'web' }, ports: [{ port: 80 }] });
    Exported.of(web);
    new ServiceRoute(this, 'Route', { service: web, backends: [{ service: web, weight: 1 }] });
  }
}

const app = new App();
new MyChart(app, 'app');
app.synth();
`;

const MAIN_TEST = `import { Testing } from 'cdk8s';
import { Link } from 'linkspan';
import { readLink } from 'linkspan/crds';
import { MyChart } from './main';

describe('the chart', () => {
  test('has a Link that the operator accepts', () => {
    const objects = Testing.synth(new MyChart(Testing.app(), 'test-chart'));
    const [link] = objects.filter(({ kind }) => kind === 'Link');
    expect(readLink(link).ok).toBe(true);
    expect(link).toMatchSnapshot();
  });

  test('names what is wrong with props', () => {
    const chart = new MyChart(Testing.app(), 'test-chart');
    new Link(chart, 'Bad', { targetCluster: 'west', gatewayAddresses: ['203.0.113.10'], gatewayPort: 0 });
    expect(() => Testing.synth(chart)).toThrow('gatewayPort: 0 must be between 1 and 65535');
  });
});
`;

/** In one process a class is one class, however the package is loaded: `instanceof` holds. */
const EITHER_WAY = `const required = { ...require('linkspan'), ...require('linkspan/crds') };
(async () => {
  const imported = { ...(await import('linkspan')), ...(await import('linkspan/crds')) };
  const names = Object.keys(imported);
  console.log(JSON.stringify(names.filter((name) => required[name] !== imported[name])), names.length > 50);
})();
`;

describe('a project of cdk8s init typescript-app', () => {
  let directory: string;
  let app: string;

  const npx = (...command: readonly string[]): Promise<string> => output(app, 'npx', '--no', '--', ...command);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-cdk8s-init-'));
    app = join(directory, 'app');
    await mkdir(app);
    const dependencies = { ...DEPENDENCIES, linkspan: `file:${(await pack(directory)).tarball}` };
    const manifest = { name: 'app', version: '1.0.0', main: 'main.js', types: 'main.ts', private: true };
    const files = {
      'package.json': JSON.stringify({ ...manifest, dependencies, devDependencies: DEV_DEPENDENCIES }),
      'tsconfig.json': JSON.stringify(TSCONFIG),
      'jest.config.js': JEST_CONFIG,
      'main.ts': MAIN,
      'main.test.ts': MAIN_TEST,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(app, name), text);
    await output(app, 'npm', 'install', '--prefix', app, '--prefer-offline', '--no-audit', '--no-fund');
  }, INSTALL_MS);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  test(
    'synthesizes with ts-node, before anything is compiled',
    async () => {
      await npx('ts-node', 'main.ts');
      const objects = Yaml.load(join(app, 'dist', 'app.k8s.yaml')) as readonly { readonly kind: string }[];
      expect(new Set(objects.map(({ kind }) => kind))).toEqual(
        new Set([
          'ClusterRole',
          'ClusterRoleBinding',
          'Deployment',
          'HTTPRoute',
          'Link',
          'NetworkPolicy',
          'PodDisruptionBudget',
          'Role',
          'RoleBinding',
          'Server',
          'Service',
          'ServiceAccount',
        ]),
      );
    },
    RUN_MS,
  );

  test('compiles, declarations of the package included', () => npx('tsc', '--build'), RUN_MS);

  test(
    'passes its tests with Jest as it is set up',
    async () => {
      await npx('jest', '--ci=false');
      expect(await readFile(join(app, '__snapshots__', 'main.test.ts.snap'), 'utf8')).toContain(
        '"targetClusterName": "west"',
      );
    },
    RUN_MS,
  );

  test('gets the same classes by require and by import', async () => {
    await writeFile(join(app, 'either-way.cjs'), EITHER_WAY);
    expect(await output(app, process.execPath, 'either-way.cjs')).toBe('[] true\n');
  });
});
