/** How the metrics of proxies are read. */
import { describe, expect, test } from 'vitest';
import { type Counted, isRead, readMetrics, usesOf } from '../../../../../synth/commands/check/access/usage.ts';
import { admitted, connections, diagnosticsText, identity, inShop, metricsText } from './proxy-metrics.ts';

const read = (text: string, pod?: string) => readMetrics(text.split('\n'), pod);
const WEB = { client: 'shop/a', host: inShop('web') };
const use = (connected: number, more: object = {}) => ({
  client: identity('shop/a'),
  host: inShop('web'),
  port: 80,
  isOpaque: false,
  connections: connected,
  ...more,
});

test('connections of clients are read, by Service, port and protocol', () => {
  const text = metricsText(connections({ ...WEB, count: 3 }), connections({ ...WEB, port: 9000, opaque: true }));
  expect(read(text, 'gateway-0')).toEqual([
    { pod: 'gateway-0', uses: [use(3), use(1, { port: 9000, isOpaque: true })], unnamed: 0, clients: [] },
  ]);
});

test('a proxy that nobody has used is read, and a text that no proxy has printed is not', () => {
  expect(read('proxy_build_info{vendor="linkerd"} 1', 'gateway-0')).toEqual([
    { pod: 'gateway-0', uses: [], unnamed: 0, clients: [] },
  ]);
  for (const text of ['', '<html>', 'go_goroutines 7', '# POD gateway-0 (1 of 1)\n#\n']) {
    expect(read(text, 'gateway-0')).toEqual([
      { pod: 'gateway-0', obstacle: expect.stringContaining('no metrics') as string },
    ]);
  }
});

test('of several pods, those without metrics are named', () => {
  const text = diagnosticsText({
    'gateway-0': metricsText(connections(WEB)),
    'gateway-1': { error: 'pod is gone' },
    'gateway-2': metricsText(),
  });
  expect(read(text)).toEqual([
    { pod: 'gateway-0', uses: [use(1)], unnamed: 0, clients: [] },
    { pod: 'gateway-2', uses: [], unnamed: 0, clients: [] },
    { pod: 'gateway-1', obstacle: 'pod is gone' },
  ]);
});

test('a sample of Prometheus says which pod it is of, and has a time', () => {
  const sample = connections(WEB).replace('{', '{instance="10.0.0.1:4191",pod="gateway-1",');
  expect(read(`${sample} 1795000000000`)).toEqual([{ pod: 'gateway-1', uses: [use(1)], unnamed: 0, clients: [] }]);
});

test('an older proxy says who was let in', () => {
  expect(read(metricsText(admitted('shop/a'), admitted('shop/b')), 'gateway-0')).toEqual([
    { pod: 'gateway-0', uses: [], unnamed: 0, clients: [identity('shop/a'), identity('shop/b')] },
  ]);
});

describe('what clients have a hand in', () => {
  test.each([
    ['a host with a control character', connections({ ...WEB, host: 'web\\n# POD other (1 of 1)' })],
    ['a host with a quote', connections({ ...WEB, host: 'web\\"} 1' })],
    ['a host that is too long', connections({ ...WEB, host: 'a.'.repeat(200) })],
    ['no identity', connections({ ...WEB, client: '' })],
    ['a port that is none', connections({ ...WEB, port: 70_000 })],
  ])('%s is counted, and not shown', (_, line) => {
    expect(read(metricsText(line), 'gateway-0')).toEqual([{ pod: 'gateway-0', uses: [], unnamed: 1, clients: [] }]);
  });

  test.each([
    ['a count that is none', connections(WEB).replace(/ 1$/, ' NaN')],
    ['a connection to the pod itself', connections({ ...WEB, host: '' })],
    ['a metric of a longer name', connections(WEB).replace('_total{', '_total_other{')],
    ['a line that is cut', connections(WEB).slice(0, 60)],
  ])('%s is left out', (_, line) => {
    expect(read(metricsText(line), 'gateway-0')).toEqual([{ pod: 'gateway-0', uses: [], unnamed: 0, clients: [] }]);
  });

  test('a host is read without its last dot, in small letters', () => {
    const [counted] = read(metricsText(connections({ ...WEB, host: 'Web.shop.svc.cluster.local.' })), 'gateway-0');
    expect((counted as Counted).uses).toEqual([use(1)]);
  });
});

test('what pods have counted is added up; of two texts of one pod, the later one counts', () => {
  const of = (pod: string, count: number): Counted => ({ pod, uses: [use(count)], unnamed: 0, clients: [] });
  expect(usesOf([of('gateway-0', 5), of('gateway-1', 7), of('gateway-0', 2)])).toEqual([use(12)]);
});

test('of a text of many lines, those that are read are known by their start', () => {
  const text = diagnosticsText({ 'gateway-0': metricsText(connections(WEB)), 'gateway-1': { error: 'gone' } });
  const kept = text.split('\n').filter(isRead);
  expect(readMetrics(kept)).toEqual(read(text));
  expect(kept.some((line) => line.startsWith('request_total'))).toBe(false);
});
