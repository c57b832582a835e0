import type { Defect } from '../defect.ts';

const OWNER = { file: 'operator/source/owner.ts', tests: ['test/operator/source/owner.test.ts'] };

const SOURCE_CLUSTER = { file: 'operator/source/source.ts', tests: ['test/operator/source/source.test.ts'] };
const SOURCE_STORES = { ...SOURCE_CLUSTER, file: 'operator/source/stores.ts' };

const WRITE_SCOPE = {
  file: 'operator/source/write-scope.ts',
  tests: ['test/operator/source/write-scope.test.ts', 'test/operator/link/namespaces.test.ts'],
};

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
  {
    ...WRITE_SCOPE,
    tests: ['test/operator/source/write-scope.test.ts'],
    name: 'a namespace that is not needed any more counts as about to be created',
    rule: 'L122',
    find: 'else if (pending?.delete(by) === true && pending.size === 0) {',
    replace: 'else if (pending === undefined) {',
  },
  {
    ...WRITE_SCOPE,
    name: 'nobody notices that a namespace is not created after all',
    rule: 'L122',
    find: '      freed?.();',
    replace: '',
  },
  {
    ...WRITE_SCOPE,
    file: 'operator/mirrors/derivation.ts',
    name: 'a Service that is not mirrored takes one of the namespaces that may be created',
    rule: 'L122',
    find: 'namespaces.length > 0',
    replace: "observed.namespaceState === 'missing'",
  },
  {
    file: 'operator/federation/derivation.ts',
    tests: ['test/operator/federation/federations.test.ts'],
    name: 'each member of a federated Service takes one of the namespaces that may be created',
    rule: 'L122',
    find: 'cluster === creator',
    replace: 'creator !== undefined',
  },
  {
    file: 'operator/source/namespaces.ts',
    tests: ['test/operator/source/namespaces.test.ts'],
    name: 'a namespace that is being deleted leaves no room for another',
    rule: 'L123',
    find: '.filter(isLive).length',
    replace: '.length',
  },
  {
    ...SOURCE_STORES,
    tests: ['test/operator/source/slices-of-others.test.ts'],
    name: 'a slice that somebody gives another federated Service stays with that',
    rule: 'L124',
    find: 'new Set([before, after].map((object) => object && federationOf(object)))',
    replace: 'new Set([before ?? after].map((object) => object && federationOf(object)))',
  },
  {
    file: 'operator/source/write-scope.ts',
    tests: ['test/operator/source/write-scope.test.ts'],
    name: 'L293 room for a namespace that somebody else has created is told to nobody',
    rule: 'L293',
    find: '|| namespaces.isCreatedFor(namespace, cluster)',
    replace: "|| namespaces.stateOf(namespace) === 'exists'",
  },
  {
    file: 'operator/source/stores.ts',
    tests: ['test/operator/source/source.test.ts', 'test/e2e/names.test.ts'],
    name: 'L294 a name that is given up is told to nobody who claims it',
    rule: 'L294',
    find: 'this.ofNames?.(namespace, name, by);',
    replace: '',
  },
  {
    file: 'operator/mirrors/derivation.ts',
    tests: ['test/e2e/names.test.ts'],
    name: 'L294 a probe Service does not claim its name, and hears nothing of it',
    rule: 'L294',
    find: '      this.#claimProbeName();\n',
    replace: '',
  },
];
