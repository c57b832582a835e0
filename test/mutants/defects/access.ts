import type { Defect } from '../defect.ts';

const HISTORIES = 'test/operator/access/histories.test.ts';

export const ACCESS: readonly Defect[] = [
  {
    name: 'L133 a set of clients that may also open opaque connections is desired twice',
    file: 'operator/access/decide.ts',
    rule: 'L133',
    find: '[...clients].map(([set, identities]) => authentication(namespace, set, identities)),',
    replace:
      '[...[...clients].map(([set, identities]) => authentication(namespace, set, identities)), ...(tcp.identities === undefined ? [] : [authentication(namespace, setId(tcp.identities), tcp.identities)])],',
    tests: [HISTORIES],
  },
  {
    name: 'L136 a route of the gateway is for the clients that its label names',
    file: 'operator/access/placement.ts',
    rule: 'L136',
    find: "const { set, index } = placeOf(each) ?? { set: '', index: -1 };",
    replace:
      "const set = each.metadata.labels?.['linkspan.dev/gateway-access'] ?? '';\n    const place = placeOf(each);\n    const index = place?.set === set ? place.index : -1;",
    tests: [HISTORIES],
  },
  {
    name: 'L136 the policy for opaque connections that is labelled as the one for everyone counts as such',
    file: 'operator/access/objects.ts',
    rule: 'L136',
    find: ' && each.metadata.name !== TCP_NAME;',
    replace: ';',
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L146 a set of clients has a name that others can be found for',
    file: 'operator/access/objects.ts',
    rule: 'L146',
    find: '.slice(0, 32)',
    replace: '.slice(0, 12)',
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L147 a policy that cannot be read any more is measured as it was',
    file: 'operator/access/report.ts',
    rule: 'L147',
    find: "    this.#options.metrics.setGatewayAccess('pending');\n",
    replace: '',
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L174 a conflict over the policy of the gateway is reported to exports',
    file: 'operator/access/derivation.ts',
    rule: 'L174',
    find: '    if (!pass.errors.some(isConflict)) report.report(observed, decision, pass);\n',
    replace: '    report.report(observed, decision, pass);\n',
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L234 a gateway is opened for a policy that lets in some clients alone',
    file: 'operator/access/decide.ts',
    rule: 'L234',
    find: '.filter((each) => isForEveryone(each, observed.everyone))',
    replace: '',
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L234 a gateway is opened for a policy that lets in clients from some networks alone',
    file: 'operator/access/decide.ts',
    rule: 'L234',
    find: "kind === 'NetworkAuthentication' && name === PolicyApi.sourceCluster",
    replace: "kind === 'NetworkAuthentication'",
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L235 a policy of somebody else holds back what it has the name for',
    file: 'operator/access/decide.ts',
    rule: 'L235',
    find: 'each.metadata.name === TCP_NAME && isOurs(each)',
    replace: 'each.metadata.name === TCP_NAME',
    tests: ['test/operator/access/access.test.ts'],
  },
  {
    name: 'L235 a policy that is not ours by half of its labels is not reported',
    file: 'operator/access/objects.ts',
    rule: 'L235',
    find: '!isOpening(each) && !isOurs(each)',
    replace: '!isOpening(each) && setOf(each) === undefined',
    tests: ['test/operator/access/access.test.ts'],
  },
];
