/**
 * Node's HTTP server and client, without what else `node:http` exports. An `import` reads every export of a module, and
 * with those Node loads its own fetch and WebSocket, which take 2 MB and are not used.
 */
const http = process.getBuiltinModule('node:http');

export const createServer: typeof http.createServer = http.createServer;
export const request: typeof http.request = http.request;
