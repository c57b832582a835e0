/**
 * The application of a pod: it answers requests with the name of its pod, and makes those that the test orders. It speaks
 * no TLS and knows no mesh, like any application beside Linkerd's proxy. Arguments: name of the pod, address of DNS.
 */
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { createServer as createTcp } from 'node:net';
import { Requests } from './requests.ts';
import { AppPort, type Order, type Protocol, type Reply } from './messages.ts';

const [pod = '', dns = ''] = process.argv.slice(2);
const served: Partial<Record<Protocol, number>> = {};
const count = (protocol: Protocol): void => {
  served[protocol] = (served[protocol] ?? 0) + 1;
};

/** A message as gRPC frames it: not compressed, its length, its bytes. */
const frame = (text: string): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
};

const listen = (): void => {
  createHttp((_, response) => {
    count('http1');
    response.end(pod);
  }).listen(AppPort.http1);
  createHttp2()
    .on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      if (headers['content-type'] !== 'application/grpc') {
        count('http2');
        stream.respond({ ':status': 200 });
        stream.end(pod);
        return;
      }
      count('grpc');
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(frame(pod));
    })
    .listen(AppPort.http2);
  createTcp((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      count('tcp');
      socket.end(`${pod}\n`);
    });
  }).listen(AppPort.tcp);
};

const obey = async (requests: Requests, order: Order): Promise<Reply> => {
  const { id } = order;
  if ('served' in order) return { id, served: served };
  try {
    return { id, ...(await requests.make(order.batch)) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
};

listen();
const requests = new Requests(dns);
process.on('message', (order: Order) => void obey(requests, order).then((reply) => process.send?.(reply)));
process.once('disconnect', () => process.exit());
process.send?.({ id: 0 } satisfies Reply);
