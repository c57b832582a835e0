import { describe, expect, it, test } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
import {
  endpointMirrors,
  endpointMirrorsByPod,
  hostnameOf,
  portsOfPod,
} from '../../../operator/mirror/endpoint-mirrors.ts';
import { endpointMirror, ownedService } from './observed.ts';

const LABEL = 'mirror.linkerd.io/headless-mirror-svc-name';
const FQ_NAME = 'mirror.linkerd.io/remote-svc-fq-name';
const http = { name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' };

const pod = endpointMirror('web-0');
const { labels, annotations } = pod.metadata;
/** The mirror of a Service of the target, which has an annotation of its own name. */
const mirror: Service = {
  ...pod,
  metadata: { name: 'web-west', annotations: { [FQ_NAME]: 'web.shop.svc.cluster.local' } },
};

describe('the pod that a Service stands for', () => {
  it('has the hostname by which it is reached, whatever the name of its endpoint mirror (A7)', () => {
    expect([pod, endpointMirror('web-0', '10.96.0.2', 'web-0-web-west')].map(hostnameOf)).toEqual(['web-0', 'web-0']);
  });

  test.each<[string, Service]>([
    ['the mirror of a Service', mirror],
    ['one without labels', { ...pod, metadata: { name: 'web-0-west' } }],
    [
      'one that somebody took the label from',
      { ...pod, metadata: { name: 'web-0-west', labels: {}, annotations: annotations! } },
    ],
    ['one that somebody took the annotations from', { ...pod, metadata: { name: 'web-0-west', labels: labels! } }],
    ['one without the annotation', { ...pod, metadata: { name: 'web-0-west', labels: labels!, annotations: {} } }],
    [
      'one with another text in it',
      {
        ...pod,
        metadata: { name: 'web-0-west', labels: { [LABEL]: 'web-west' }, annotations: { [FQ_NAME]: 'No Name.x' } },
      },
    ],
  ])('is none of %s', (_, service) => {
    expect(hostnameOf(service)).toBeUndefined();
    expect([endpointMirrorsByPod({ services: [service] }).size, endpointMirrors({ services: [service] }).size]).toEqual(
      [0, 0],
    );
  });

  it('listens on the ports of the endpoint mirror (D6)', () => {
    const service: Service = {
      ...pod,
      spec: { clusterIP: '10.96.0.2', ports: [{ ...http, targetPort: 8080, nodePort: 30_080 }] },
    };
    expect(portsOfPod(service)).toEqual([http]);
    expect(endpointMirrors({ services: [ownedService('web-west'), service] })).toEqual(new Map([['web-0', [http]]]));
    expect(portsOfPod({ metadata: pod.metadata })).toEqual([]);
  });

  it('may have two of them while it gets another name, and others have theirs (A7)', () => {
    const former = endpointMirror('web-0', '10.96.0.2', 'web-0-web-west');
    const other = endpointMirror('web-1');
    expect(endpointMirrorsByPod({ services: [former, mirror, other, pod] })).toEqual(
      new Map([
        ['web-0', [former, pod]],
        ['web-1', [other]],
      ]),
    );
  });
});
