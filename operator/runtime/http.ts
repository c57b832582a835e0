/**
 * Node's HTTP server and client, without what else `node:http` exports. An `import` reads every export of a module, and
 * with those Node loads its own fetch and WebSocket, which take 2 MB and are not used.
 */
export const { createServer, request } = process.getBuiltinModule('node:http');
