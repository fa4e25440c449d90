import type { Controller } from '../../controller/controller.ts';

/** The controller, or the controller with what begins and ends with it. */
export type Follower = Pick<Controller, 'run' | 'takeOver'>;
