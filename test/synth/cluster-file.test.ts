import { describe, expect, it } from 'vitest';

import type { ClusterSetMember, ClusterSetProps, GatewayServiceProps, Topology } from '../../constructs/index.ts';
import { type CLUSTER_SET_SCHEMA, formatFieldErrors } from '../../crds/index.ts';
import { parseClusterFile } from '../../synth/cluster-file.ts';
import { clusterFile, clusterSetProps } from '../support/cluster-file.ts';

/** True if both are the same names. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type Schema = typeof CLUSTER_SET_SCHEMA.properties;
type Member = Schema['members']['items'];
type Gateway = Member['properties']['gateway'];
type Fields<S extends { readonly properties: object }> = keyof S['properties'];

/** Held by the compiler: a prop that the schema does not have, or the other way round, is an error here. */
const SCHEMA_HAS_THE_PROPS: {
  readonly set: Same<Fields<typeof CLUSTER_SET_SCHEMA>, keyof ClusterSetProps>;
  readonly member: Same<Fields<Member>, keyof ClusterSetMember>;
  readonly gateway: Same<Fields<Gateway>, keyof NonNullable<ClusterSetMember['gateway']>>;
  readonly service: Same<Fields<Gateway['properties']['service']>, keyof GatewayServiceProps>;
  readonly apiServer: Same<Fields<Member['properties']['apiServer']>, keyof NonNullable<ClusterSetMember['apiServer']>>;
  readonly topology: Same<Fields<Schema['topology']>, keyof Topology>;
  /** Peers of a NetworkPolicy are not said in YAML. */
  readonly operator: Same<Fields<Schema['operator']>, Exclude<keyof ClusterSetProps['operator'], 'networkPolicy'>>;
  readonly credentials: Same<Fields<Schema['credentials']>, keyof NonNullable<ClusterSetProps['credentials']>>;
} = {
  set: true,
  member: true,
  gateway: true,
  service: true,
  apiServer: true,
  topology: true,
  operator: true,
  credentials: true,
};

const complaintsOf = (text: string): readonly string[] => {
  const read = parseClusterFile(text);
  return read.ok ? [] : read.errors.map((error) => formatFieldErrors([error]));
};

describe('a cluster file', () => {
  it('says what the props of a ClusterSet say, field by field', () => {
    expect(Object.values(SCHEMA_HAS_THE_PROPS)).not.toContain(false);
    const read = parseClusterFile(clusterFile(clusterSetProps(3)));
    expect(read.ok && read.value.pairs).toHaveLength(6);
  });

  it.each([
    ['is no YAML', 'members: [', [/^it is no valid YAML: .* \(line 1\)$/]],
    ['has a field twice', 'flat: true\nflat: false\n', [/^it is no valid YAML: duplicated mapping key \(line 2\)$/]],
    ['is no map', '- east\n', [/^is no map of fields \(write members: and operator:, as the schema says\)$/]],
    ['is empty', '# nothing\n', [/^it is no valid YAML: expected a document, but the input is empty/]],
    [
      'has fields of other names and types',
      'members: [{name: 1, gateways: []}]\noperator: {}\ntopology: {type: ring}\n',
      [
        /^members\[0\]\.gateways: is unknown$/,
        /^members\[0\]\.name: 1 must be a string \(put it in quotes: "1"\)$/,
        /^topology\.type: "ring" must be one of full-mesh, hub-and-spokes, pairs$/,
        /^operator\.image: is required$/,
      ],
    ],
    [
      'has values that no cluster can have',
      'members: [{name: East, networks: [ten]}]\noperator: {image: "linkspan:1"}\ntopology: {type: pairs}\n',
      [
        /^topology\.pairs: is required, since type is pairs \(at least one\)$/,
        /^members\[0\]\.name: "East" is no DNS label \(.+\)$/,
        /^members\[0\]\.networks\[0\]: "ten" is no network in CIDR notation \(as in .+\)$/,
      ],
    ],
  ])('that %s is refused for all that is wrong, by path', (_, text, complaints) => {
    const said = complaintsOf(text);
    expect(said).toHaveLength(complaints.length);
    for (const complaint of complaints)
      expect(
        said.some((each) => complaint.test(each)),
        String(said),
      ).toBe(true);
  });
});
