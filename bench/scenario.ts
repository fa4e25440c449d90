import type { World } from './world.ts';

/** One number that a scenario found. */
export interface Figure {
  readonly name: string;
  /** More of `…/s` is better; of everything else, less. */
  readonly unit: '/s' | 's' | 'ms' | 'MiB' | 'KiB' | 'writes' | 'reads' | 'times';
  readonly value: number;
  /** The ceiling's figure that bounds this one. */
  readonly bound?: CeilingName;
}

/** Figures of the API server without any controller; see `scenarios/ceiling.ts`. */
export type CeilingName =
  | 'creates, 16 in flight'
  | 'updates, 16 in flight'
  | 'one write seen by a watch, p50';

export interface Scenario {
  readonly name: string;
  readonly describe: string;
  /** Who is measured; default ours and the unthrottled baseline. */
  readonly subjects?: readonly SubjectName[];
  /** Rejects when what the controller left behind is not what it should be. */
  measure(world: World): Promise<readonly Figure[]>;
}

/** `other`: another build of ours. */
export type SubjectName = 'none' | 'ours' | 'other' | 'go' | 'go-protobuf' | 'go-5qps';
