/** Ports whose connections Linkerd does not look into: failover and the policy of the gateway know the same ones. */
import { expect, test } from 'vitest';
import { readExports } from '../../../operator/access/exports.ts';
import { routedPorts } from '../../../operator/failover/routes.ts';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';

const NAMES = { clusterDomain: 'cluster.local', controlPlaneNamespace: 'linkerd', trustDomain: 'cluster.local' };

test.each<[string, ServicePort, boolean, string?]>([
  ['by default, a port of those that Linkerd takes for opaque', { port: 3306 }, true],
  ['not 443, which a proxy finds out by itself', { port: 443 }, false],
  ['unless its Service says so', { port: 443 }, true, '443'],
  ['not one of the default where its Service names others', { port: 3306 }, false, '443'],
  ['one of a range', { port: 8080 }, true, '25, 8000-9000'],
  ['not one beside it', { port: 9001 }, false, '25, 8000-9000'],
  ['one by its name', { port: 80, name: 'sql' }, true, 'sql'],
  ['one of a protocol that Linkerd does not look into', { port: 80, appProtocol: 'linkerd.io/opaque' }, true],
  ['also in capitals', { port: 80, appProtocol: 'Linkerd.IO/TCP' }, true],
  ['one of a protocol that Linkerd does not know', { port: 80, appProtocol: 'mysql' }, true],
  ['not one whose protocol is HTTP, whatever the list says', { port: 3306, appProtocol: 'http' }, false],
  ['nor HTTP/2', { port: 443, appProtocol: 'kubernetes.io/h2c' }, false, '443'],
])('%s (J1, M5, L236)', (_, port, isOpaque, listed) => {
  const labels = { 'mirror.linkerd.io/exported': 'true' };
  const annotations = listed === undefined ? {} : { 'config.linkerd.io/opaque-ports': listed };
  const service = {
    metadata: { name: 'db', namespace: 'shop', labels, annotations },
    spec: { ports: [port] },
  } as Service;
  const [exported] = readExports([service], new Map(), 'exported', NAMES);
  expect(exported?.opaquePorts).toEqual(isOpaque ? [port.port] : []);
  expect(routedPorts(service, undefined)).toEqual([{ port: port.port, kind: isOpaque ? 'TCPRoute' : 'HTTPRoute' }]);
});
