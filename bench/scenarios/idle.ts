import { memory } from '../testbed/process-stats.ts';
import type { Scenario } from './scenario.ts';

export const idle: Scenario = {
  name: 'idle',
  describe: 'a controller with nothing to do',
  measure: async (testbed) => {
    const controller = await testbed.start();
    await testbed.settle();
    const { rss, peak } = memory(controller.pid);
    return [
      { name: 'ready', unit: 's', value: controller.readyMs / 1000 },
      { name: 'RSS settled', unit: 'MiB', value: rss },
      { name: 'RSS peak', unit: 'MiB', value: peak },
    ];
  },
};
