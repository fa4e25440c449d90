import type { Plugin } from 'esbuild';

/** What we and the client library use of undici, prepared as its index does it. */
const PARTS = `
  import connect from 'undici/lib/api/api-connect.js';
  import request from 'undici/lib/api/api-request.js';
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  Object.assign(Dispatcher.prototype, { connect, request });
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
  export const fetch = undefined;
`;

/**
 * Leaves out undici's fetch, WebSocket, caches and mocks, which its index loads. Without this the
 * controller takes a tenth more memory at 1,000 sources (`npm run bench -- --scenario
 * cold-start-1000`).
 */
export const undiciParts: Plugin = {
  name: 'undici-parts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({
      path: 'undici',
      namespace: 'undici-parts',
      pluginData: resolveDir,
    }));
    onLoad({ filter: /./, namespace: 'undici-parts' }, ({ pluginData }) => ({
      contents: PARTS,
      resolveDir: pluginData,
    }));
  },
};
