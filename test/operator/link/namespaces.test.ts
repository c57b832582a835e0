/** Namespaces that a session creates, as many as the limit allows (rule E10). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLink } from '../../../crds/index.ts';
import { Session } from '../../../operator/link/session.ts';
import type { SimulatedCluster } from '../../cluster/simulated/start.ts';
import type { Manifest } from '../../cluster/simulated/store.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { credentials, EXPORTED, link, namespace, service } from '../../support/builders.ts';
import { RecordedReport } from './recorded.ts';
import { Stage, startTarget } from './stage.ts';

describe('a session that may create one namespace', () => {
  let stage: Stage;
  let session: Session;
  let target: SimulatedCluster;
  beforeEach(async () => {
    stage = await Stage.start({ flags: { enableNamespaceCreation: true, maxNamespaces: '1' } });
    target = await startTarget();
    const env = await stage.environment();
    const read = readLink(link('west', { probeSpec: undefined }));
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    session = new Session(read.value, env, new RecordedReport());
    env.source.namespaces.subscribe((name, state) => session.namespaceChanged(name, state));
  });
  afterEach(async () => {
    await session.stop();
    await stage.stop();
    await target.stop();
  });

  const start = (): void => {
    session.start();
    session.setCredentials(credentials('west', target.kubeconfig));
  };
  const put = (within: string): void => {
    target.store.upsert(namespace(within) as Manifest);
    target.store.upsert({ ...service('web', { namespace: within, labels: EXPORTED }) });
  };
  const remove = (within: string): void => void target.store.delete('v1', 'Service', within, 'web');
  const reasonIn = (within: string): string | undefined => session.findings().mirrors?.get(`${within}/web`)?.reason;
  const until = (within: string, reason: string | undefined): Promise<unknown> =>
    eventually(
      `${within}: ${reason}, not ${reasonIn(within)}`,
      async () => session.findings().mirrors !== undefined && reasonIn(within) === reason,
    );

  it('creates it for what is mirrored, whatever else the target exports before', async () => {
    target.store.upsert(namespace('a') as Manifest);
    const web = service('web', { namespace: 'a', labels: EXPORTED });
    target.store.upsert({ ...web, spec: { type: 'ExternalName', externalName: 'example.com' } });
    start();
    await until('a', 'InvalidService');
    put('b');
    await until('b', 'Mirrored');
    expect(stage.services('b')).toEqual(['web-west']);
  });

  it('creates another once the first is gone with what was in it', async () => {
    put('a');
    start();
    await until('a', 'Mirrored');
    put('b');
    await until('b', 'LimitExceeded');
    remove('a');
    await until('a', undefined);
    stage.east.store.delete('v1', 'Namespace', undefined, 'a');
    await until('b', 'Mirrored');
  });

  it('creates another when the first has not been created, and is wanted no more', async () => {
    const accept = stage.east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ verb, resource }) => verb === 'patch' && resource === 'namespaces',
    });
    put('a');
    start();
    await until('a', 'MissingNamespace');
    put('b');
    await until('b', 'LimitExceeded');
    accept();
    remove('a');
    await until('b', 'Mirrored');
  });
});
