/** A program loses the operator of a cluster only after its Links, as `linkspan synth` does. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ClusterSet, type ClusterSetProps, OutputFolderError, writeClusterSet } from '../../../constructs/index.ts';
import { clusterSetProps, leavingProps } from '../../support/cluster-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'linkspan-stranded-'));
});

afterEach(() => rm(folder, { recursive: true }));

const write = (props: ClusterSetProps) => writeClusterSet(folder, new ClusterSet(new App(), 'set', props));

it('is refused for the Links and the operator at once, with nothing written, and taken one after the other', async () => {
  write(clusterSetProps(3));
  const before = (await readdir(folder, { recursive: true })).sort();
  const both = () => write(clusterSetProps(2));
  expect(both).toThrow(OutputFolderError);
  expect(both).toThrow(
    `${folder}: c03/2-deployment-linkspan-operator.yaml: must not be removed together with 3-link-c01.yaml, 3-link-c02.yaml: nothing would remove the mirrors of the Links (keep member c03 for now, with operator: true`,
  );
  expect(both).toThrow('wait until Lease service-mirror-write-c01, service-mirror-write-c02 go, which');
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(before);

  write(leavingProps(3));
  expect(await readdir(folder)).toContain('c03');
  write(clusterSetProps(2));
  expect(await readdir(folder)).not.toContain('c03');
});

it('is refused for a namespace that changes while there are Links, and taken one after the other', async () => {
  const withoutLinks = ({ members, ...props }: ClusterSetProps): ClusterSetProps => ({
    ...props,
    members: members.map((member) => ({ ...member, operator: true })),
    topology: { type: 'pairs', pairs: [] },
  });
  const set = clusterSetProps(2);
  const moved = { ...set, namespace: 'mesh' };
  const operator = () => readFile(join(folder, 'c01/2-deployment-linkspan-operator.yaml'), 'utf8');
  write(set);
  const before = await operator();

  expect(() => write(moved)).toThrow(OutputFolderError);
  expect(() => write(withoutLinks(moved))).toThrow(
    `${folder}: c01/2-deployment-linkspan-operator.yaml: must not move to another namespace together with 3-link-c02.yaml: the operator would remove the mirrors as its Links go, or be gone before (keep the namespace for now, with operator: true of member c01 and by topology without its Links; render and apply; wait until Lease service-mirror-write-c02 goes, which the operator deletes last; change the namespace, render and apply; then write the Links again)`,
  );
  expect(await operator()).toBe(before);

  write(withoutLinks(set));
  write(withoutLinks(moved));
  write(moved);
  expect(await operator()).toContain('namespace: mesh');
});
