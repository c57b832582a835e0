/** A program loses the operator of a cluster only after its Links, as `linkspan synth` does. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
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
