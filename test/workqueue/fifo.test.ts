import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from '../../src/workqueue/fifo.ts';

describe('Fifo', () => {
  it('behaves like an array of distinct keys under any history', () => {
    const step = fc.record({
      op: fc.constantFrom('push' as const, 'delete' as const, 'shift' as const),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const fifo = new Fifo();
        const model: string[] = [];
        const apply = {
          push: (key: string) => {
            fifo.push(key);
            if (!model.includes(key)) model.push(key);
          },
          delete: (key: string) => {
            fifo.delete(key);
            if (model.includes(key)) model.splice(model.indexOf(key), 1);
          },
          shift: () => expect(fifo.shift()).toBe(model.shift()),
        };
        for (const { op, key } of steps) {
          apply[op](key);
          expect(fifo.size).toBe(model.length);
        }
      }),
    );
  });
});
