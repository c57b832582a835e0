import type { Defect } from '../defect.ts';

const OWNER = { file: 'operator/source/owner.ts', tests: ['test/operator/source/owner.test.ts'] };

const SOURCE_CLUSTER = { file: 'operator/source/source.ts', tests: ['test/operator/source/source.test.ts'] };
const SOURCE_STORES = { ...SOURCE_CLUSTER, file: 'operator/source/stores.ts' };

export const SOURCE: readonly Defect[] = [
  {
    ...OWNER,
    name: 'a slice of a ServiceImport is of the cluster that its label says',
    rule: 'L91',
    find: 'return byName === undefined ?',
    replace: 'return byName !== null ?',
  },
  {
    ...OWNER,
    name: 'a slice of a federated Service is of the member that its label says',
    rule: 'L91',
    find: 'if (memberName(service) !== undefined) {',
    replace: 'if (labels[Label.federationMember] === undefined) {',
  },
  {
    ...OWNER,
    name: 'a slice of a federated Service that has lost the label of its Service is nobody’s',
    rule: 'I8',
    find: "name.replace(/\\..*/, '')",
    replace: 'name',
  },
  {
    ...SOURCE_STORES,
    name: 'a name that is given up is noticed by a retry',
    rule: 'A7',
    find: 'this.#isForeign(before) !== this.#isForeign(after) || was?.cluster !== is?.cluster',
    replace: 'false',
  },
];
