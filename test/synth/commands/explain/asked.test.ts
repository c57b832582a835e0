import { expect, test } from 'vitest';
import { readAsked } from '../../../../synth/commands/explain/asked.ts';

const shop = (name: string, isClusterSet = false) => ({ namespace: 'shop', name, isClusterSet });
const bare = (name: string) => ({ namespace: undefined, name, isClusterSet: false });

test.each<[string, object | undefined]>([
  ['shop/web-west', shop('web-west')],
  ['web-west', bare('web-west')],
  ['svc/web-west', bare('web-west')],
  ['service/web-west', bare('web-west')],
  ['web-west.shop', shop('web-west')],
  ['web-west.shop:8080', shop('web-west')],
  ['web-west.shop.svc', shop('web-west')],
  ['web-west.shop.svc.cluster.local', shop('web-west')],
  ['web-west.shop.svc.cluster.local.:8080', shop('web-west')],
  ['db-0.db-west.shop.svc.corp.example', shop('db-west')],
  ['http://web-west.shop:8080/cart?id=1#top', shop('web-west')],
  ['grpc://me@web-west.shop.svc.cluster.local', shop('web-west')],
  ['https://web-west', bare('web-west')],
  ['web.shop.svc.clusterset.local', shop('web', true)],
  ['db-0.west.db.shop.svc.clusterset.local', shop('db', true)],
  ['10.96.0.7', { ip: '10.96.0.7' }],
  ['10.96.0.7:80', { ip: '10.96.0.7' }],
  ['http://10.96.0.7/', { ip: '10.96.0.7' }],
  ['fd00::7', { ip: 'fd00::7' }],
  ['http://[fd00::7]:80/', { ip: 'fd00::7' }],
  ['', undefined],
  ['a/b/c', undefined],
  ['Shop/web', undefined],
  ['web.shop.example', undefined],
  ['shop/', undefined],
  ['http://', undefined],
  ['$(reboot)', undefined],
])('%s', (text, expected) => {
  expect(readAsked(text)).toEqual(expected);
});
