// The arrows of docs/architecture.md, held by the linter: crds ← constructs ← synth, and constructs ← operator.
import tseslint from 'typescript-eslint';
import { plainComments } from './tools/lint/comments.ts';
import { CONSTRUCT_FLOORS, OPERATOR_FLOORS } from './test/release/floors.ts';

/** Forbids imports whose path matches one of the patterns, with the reason. */
const arrows = (files, ...rules) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: rules.map(([regex, message]) => ({ regex, message })) }],
  },
});

const CLUSTER = ['^@kubernetes/client-node$|^undici$', 'Only operator/kube talks to a cluster.'];
const TEST = ['(^|/)(test|tools)/', 'Nothing that ships imports from test/ or tools/.'];
const CLIENT_NODE = [
  '^@kubernetes/client-node$',
  'Only operator/kube/access/client-node.ts knows it: see docs/adr/0018.',
];
const PLUS = ['^cdk8s-plus', 'The operator does not load it: see docs/adr/0016.'];
const noRoom = (room, why) => [`^(\\.\\./)+${room}/`, why];

/**
 * The arrows between the folders of a room, which stand on floors, lowest first: a folder imports from those before it.
 *
 * @param rules what else a folder must not import
 */
const floors = (room, all, rules) =>
  all.flatMap((folders, floor) =>
    folders.map((folder) => {
      const above = all
        .slice(floor)
        .flat()
        .filter((each) => each !== folder);
      const own = above.length === 0 ? [] : [noRoom(`(${above.join('|')})`, `${room}/${folder} stands below.`)];
      return arrows([`${room}/${folder}/**/*.ts`], ...rules(folder), ...own);
    }),
  );

const CONSTRUCTS = [
  ['^node:(net|http|https|process|child_process)', 'Constructs read no environment and talk to nothing.'],
  CLUSTER,
  TEST,
];
const FILES = ['^node:fs', 'Only constructs/tree writes files.'];
const CONSTRUCT_FOLDERS = [
  // With one `..` it is the folder constructs/operator.
  ['^(\\.\\./){2,}(operator|synth)/', 'constructs import crds only.'],
  ['^(\\.\\./)+rendered/(?!index\\.ts)', 'constructs/rendered has one door: constructs/rendered/index.ts.'],
  ['^\\.\\./index\\.ts', 'constructs/index.ts stands above.'],
];

const OPERATOR = [
  noRoom('synth', 'operator does not import synth.'),
  noRoom('constructs/(?!rendered/index)', 'operator opens one door of constructs: constructs/rendered/index.ts.'),
  PLUS,
  TEST,
];
const KNOWS_NO_LINK = 'operator/kube does not know Links.';
const KUBE = [
  noRoom(
    '(runtime|mirrors?|source|target|gateway|served|federation|failover|access|mcs|link|config|constructs)',
    KNOWS_NO_LINK,
  ),
  CLIENT_NODE,
];

export default tseslint.config(
  { ignores: ['dist/', 'release/', 'node_modules/', '**/*.gen.ts', 'test/cluster/bin/'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // It takes `signal.aborted` for what it was before an await.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      'no-console': 'error',
    },
  },
  { files: ['**/*.js'], ...tseslint.configs.disableTypeChecked },
  // Their own tsconfig.json looks for an installed linkspan.
  {
    files: ['examples/**/*.ts'],
    languageOptions: { parserOptions: { projectService: false, project: ['tsconfig.json'] } },
  },
  {
    files: ['constructs/**/*.ts', 'operator/**/*.ts', 'synth/**/*.ts'],
    ignores: ['operator/mirror/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'Literal[value=/^(mirror\\.linkerd\\.io|multicluster\\.linkerd\\.io|linkspan\\.dev)(\\u002f|$)/]',
          message: 'A wire name is spelled once, in crds/wire.ts.',
        },
      ],
    },
  },
  {
    files: ['crds/**/*.ts', 'constructs/**/*.ts', 'operator/**/*.ts', 'synth/**/*.ts', 'tools/**/*.ts'],
    ignores: ['**/*.gen.ts'],
    plugins: { linkspan: { rules: { 'plain-comments': plainComments } } },
    rules: { 'linkspan/plain-comments': 'error' },
  },
  // A function fits on a screen. Tests are lists, whose length says nothing.
  {
    files: ['constructs/**/*.ts', 'crds/**/*.ts', 'operator/**/*.ts', 'synth/**/*.ts', 'tools/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }] },
  },
  // Each construct has props of its own name, also where they are those of another.
  {
    files: ['constructs/**/*.ts'],
    rules: { '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }] },
  },
  // A test reads what it has just built: `!` there is the assertion, and mocks need not await.
  {
    files: ['test/**/*.ts', 'tools/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-console': 'off',
    },
  },
  arrows(
    ['crds/**/*.ts'],
    noRoom('(constructs|operator|synth)', 'crds imports nothing of ours.'),
    ['^cdk8s|^constructs$', 'crds is plain data: no construct library.'],
    CLUSTER,
    TEST,
  ),
  arrows(['constructs/*.ts'], noRoom('(operator|synth)', 'constructs import crds only.'), ...CONSTRUCTS),
  ...floors('constructs', CONSTRUCT_FLOORS, (folder) => [
    ...CONSTRUCTS,
    ...CONSTRUCT_FOLDERS,
    ...(folder === 'rendered' ? [PLUS] : []),
    ...(folder === 'tree' ? [] : [FILES]),
  ]),
  arrows(['operator/*.ts'], ...OPERATOR, CLUSTER),
  ...floors('operator', OPERATOR_FLOORS, (folder) => [
    ...OPERATOR,
    ...(folder === 'kube' ? [...KUBE, noRoom('crds', KNOWS_NO_LINK)] : [CLUSTER]),
  ]),
  // A kubeconfig is input like any other: checked by a schema, and refused in the same words.
  arrows(
    ['operator/kube/access/**/*.ts'],
    ...OPERATOR,
    ...KUBE,
    noRoom('crds/(?!(field-error|validate)\\.ts)', KNOWS_NO_LINK),
  ),
  // Its types alone, for programs that have its kubeconfig: see docs/adr/0018.
  arrows(['operator/kube/access/client-node.ts'], ...OPERATOR, ...KUBE.filter((rule) => rule !== CLIENT_NODE)),
  arrows(
    ['synth/**/*.ts'],
    [
      '^(\\.\\./)+operator/(?!kube/|mirror/|federation/|mcs/|access/(exports|networks|objects)|target/read/mcs-objects|main|config/|forecast/|index)',
      'synth reaches a cluster through operator/kube, explains by operator/mirror, operator/federation, operator/mcs and the pure files of operator/access, reads ServiceExports by target/read/mcs-objects, forecasts by operator/forecast, and starts the operator by operator/main.',
    ],
    CLUSTER,
    TEST,
  ),
);
