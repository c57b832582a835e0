import type { Defect } from '../defect.ts';

const IMPORTS_TEST = 'test/operator/mcs/imports.test.ts';
const CONTROLLER = { file: 'operator/mcs/imports.ts', tests: [IMPORTS_TEST] };
const RECONCILE = { ...CONTROLLER, file: 'operator/mcs/derivation.ts' };

const STATUS_PATCH = {
  file: 'operator/runtime/status-patch.ts',
  tests: ['test/operator/runtime/status-patch.test.ts'],
};

export const IMPORTS: readonly Defect[] = [
  {
    ...STATUS_PATCH,
    name: 'L83 a status that a restored backup has taken back is never written again',
    rule: 'C3',
    find: 'if (!isShown) return { waitMs: shownMs - (now - last.atMs) };',
    replace: "if (!isWritten) return 'unchanged';",
  },
  {
    ...RECONCILE,
    name: 'an address that is yet to be given back counts as taken',
    rule: 'K3',
    find: 'const RELEASE_MS = 2_000;',
    replace: 'const RELEASE_MS = 0;',
  },
  {
    ...RECONCILE,
    name: 'L298 a part is to end, again and again, in a ServiceImport that is not ours any more',
    rule: 'L298',
    find: ' === operators.own && !isForeign(standing);',
    replace: ' === operators.own;',
  },
];
