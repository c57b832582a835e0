import type { Defect } from '../defect.ts';

const DECIDE = ['test/operator/federation/decide.test.ts'];

export const LOCAL_MEMBER: readonly Defect[] = [
  {
    file: 'operator/federation/admission.ts',
    tests: DECIDE,
    name: "a Service leads through gateways although Linkerd's local mirror deletes such ones",
    rule: 'I7',
    find: "if (!isHeld) return before?.mode ?? 'remote-discovery';",
    replace: '',
  },
  {
    file: 'operator/federation/decide.ts',
    tests: DECIDE,
    name: 'the local entry is written without its Lease',
    rule: 'I7',
    find: 'if (local.isHeld ||',
    replace: 'if (true ||',
  },
  {
    file: 'operator/federation/decide.ts',
    tests: DECIDE,
    name: 'slices of local pods that are gone stay while another holds the Lease',
    rule: 'I5',
    find: "|| membershipOf(observed)?.mode === 'gateway'",
    replace: '',
  },
];
