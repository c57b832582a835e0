/** H6: check asks for the rights that `MirrorOperator` grants, as the Deployment beside them says, and for no others. */
import { expect, test } from 'vitest';
import { MirrorOperator, type MirrorOperatorProps } from '../../../../constructs/index.ts';
import { type ApiJson, render } from '../../../../constructs/rendered/render.ts';
import type { Deployment } from '../../../../synth/commands/check/objects.ts';
import { operatorRights } from '../../../../synth/commands/check/operator-rights.ts';
import { type Reader, type Right, rightText } from '../../../../synth/commands/check/reader.ts';
import { read } from './facts.ts';

interface Role extends ApiJson {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const isRole = (object: ApiJson): object is Role => object.kind === 'Role' || object.kind === 'ClusterRole';

const granted = (objects: readonly ApiJson[]): readonly string[] =>
  objects.filter(isRole).flatMap(({ metadata: { namespace }, rules }) =>
    rules.flatMap(({ apiGroups: [group = ''], resources: [resource = ''], resourceNames = [undefined], verbs }) =>
      resourceNames.flatMap((name) =>
        verbs.map((verb) =>
          rightText({
            verb,
            group,
            resource,
            ...(namespace !== undefined && { namespace }),
            ...(name !== undefined && { name }),
          }),
        ),
      ),
    ),
  );

const asked = async (objects: readonly ApiJson[], flat: boolean): Promise<readonly string[]> => {
  const rights: Right[] = [];
  const reader = {
    may: async () => read(true),
    mayUser: async (_user: string, _groups: readonly string[], right: Right) => {
      rights.push(right);
      return read(true);
    },
  } as unknown as Reader;
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as Deployment;
  await operatorRights(reader, deployment, flat);
  return rights.map(rightText);
};

test.each<Partial<MirrorOperatorProps>>([
  {},
  { failover: false },
  { endpoints: 'slices', enableNamespaceCreation: true },
  { flat: true },
  { mirrorNamespaces: ['shop', 'bank'], credentialsSecrets: ['cluster-credentials-west'] },
  {
    mirrorNamespaces: ['shop'],
    credentialsSecrets: ['a', 'b'],
    flat: true,
    linkerdNamespace: 'l5d',
    namespace: 'mesh',
  },
])('%j', async (props) => {
  const objects = render((chart) => {
    new MirrorOperator(chart, 'operator', { image: 'linkspan:1', ...props });
  });
  expect((await asked(objects, props.flat ?? false)).toSorted()).toEqual(granted(objects).toSorted());
});
