import type { Plugin } from 'esbuild';
import { bundle } from '../../scripts/bundle.ts';

/** In place of `src/controller/event-listener.ts`. */
const SILENT = 'export const eventListener = () => () => undefined;';

const silentListener: Plugin = {
  name: 'without-events',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/controller\/event-listener\.ts$/ }, () => ({ contents: SILENT }));
  },
};

/**
 * Builds the program without Events into `outfile`: nothing is recorded, and nothing is asked of
 * the API server. Beside it, `npm run bench` shows what Events cost (SPEC O3). An account without
 * the right to create Events would not do: each would be sent, and refused.
 */
export async function bundleWithoutEvents(outfile: string): Promise<void> {
  await bundle({ outfile, plugins: [silentListener] });
}
