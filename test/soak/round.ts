import fc from 'fast-check';
import { type Action, historyAcrossNamespaces, MARK_TAMPERINGS } from '../controller/history.ts';
import type { FaultRule } from '../support/fault-proxy-rules.ts';

/** What happens to the replicas and their servers. `replica`: 0 or 1. */
export type Trouble =
  | { readonly do: 'terminate' | 'kill'; readonly replica: number }
  | { readonly do: 'stop'; readonly replica: number; readonly forMs: number }
  | { readonly do: 'pause the API server' | 'pause etcd'; readonly forMs: number }
  | { readonly do: 'cut replies' }
  | { readonly do: 'harm requests'; readonly rule: FaultRule };

/** Actions and troubles go on side by side, each after a pause (ms). */
export interface Round {
  readonly actions: readonly { readonly action: Action; readonly pauseMs: number }[];
  readonly troubles: readonly { readonly trouble: Trouble; readonly pauseMs: number }[];
}

const replica = fc.nat({ max: 1 });
/** Some are shorter than the renew deadline, some longer than the Lease. */
const forMs = fc.integer({ min: 200, max: 9_000 });

const WRITES = { method: ['POST', 'PATCH', 'DELETE'], path: /\/configmaps/ };
const LEASES = { path: /\/leases/ };
/**
 * No write of a ConfigMap is delayed: then it would come from the proxy when its sender is long
 * dead, and against that there are only preconditions.
 */
const rule: fc.Arbitrary<FaultRule> = fc
  .oneof(
    fc.record({
      match: fc.constantFrom(undefined, WRITES, LEASES, { watch: true }),
      fault: fc.oneof(
        fc.record({ kind: fc.constant('status' as const), code: fc.constantFrom(429, 500, 503, 504) }),
        fc.record({ kind: fc.constantFrom('reset' as const, 'no-answer' as const) }),
      ),
    }),
    fc.record({ match: fc.constant(WRITES), fault: fc.constant({ kind: 'lost-reply' as const }) }),
    fc.record({
      match: fc.constantFrom(LEASES, { method: 'GET' }),
      fault: fc.record({ kind: fc.constant('delay' as const), ms: fc.integer({ min: 50, max: 3_000 }) }),
    }),
    fc.record({
      match: fc.constant({ watch: true }),
      fault: fc.oneof(
        fc.record({ kind: fc.constant('cut' as const), afterBytes: fc.nat({ max: 5_000 }) }),
        fc.record({
          kind: fc.constantFrom('truncated-line' as const, 'duplicate-line' as const),
          line: fc.integer({ min: 1, max: 5 }),
        }),
      ),
    }),
  )
  .chain(({ match, fault }) =>
    fc.record({
      fault: fc.constant(fault),
      times: fc.integer({ min: 1, max: 4 }),
      skip: fc.nat({ max: 3 }),
      ...(match && { match: fc.constant(match) }),
    }),
  );

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('harm requests' as const), rule }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cut replies' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('terminate' as const, 'kill' as const), replica }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), replica, forMs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('pause the API server' as const, 'pause etcd' as const),
      // Those who act wait for an answer, too, and etcd's clients give up after some seconds.
      forMs: fc.integer({ min: 200, max: 5_000 }),
    }),
  },
);

/**
 * Left out is what the model can only judge when all is settled before and after: to retain
 * companions, and to take a companion's marks away, which must be healed at once.
 */
function isForTrouble(action: Action): boolean {
  const isMark = action.do === 'tamper' && MARK_TAMPERINGS.some((how) => how === action.how);
  const asksToRetain = 'ask' in action && action.ask.policy === 'retain';
  const isOfController = ['stop', 'restart', 'settle', 'silence'].includes(action.do);
  return !isMark && !asksToRetain && !isOfController;
}

const pauseMs = fc.nat({ max: 1_500 });

/** What happens in round `number` of the soak with `seed`. */
export function roundOf(seed: number, number: number): Round {
  const rounds = fc.record({
    histories: fc.array(fc.tuple(historyAcrossNamespaces, fc.array(pauseMs, { minLength: 16 })), {
      minLength: 1,
      maxLength: 2,
    }),
    troubles: fc.array(fc.record({ trouble, pauseMs }), { minLength: 1, maxLength: 6 }),
  });
  const [round] = fc.sample(rounds, { seed: seed + number, numRuns: 1 });
  const { histories = [], troubles = [] } = round ?? {};
  const actions = histories.flatMap(([history, pauses]) =>
    history.filter(isForTrouble).map((action, index) => ({ action, pauseMs: pauses[index] ?? 0 })),
  );
  return { actions, troubles };
}
