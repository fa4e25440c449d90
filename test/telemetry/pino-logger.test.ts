import { expect, test } from 'vitest';
import { NetworkError } from '../../src/kube/errors.ts';
import { createLogger } from '../../src/telemetry/pino-logger.ts';
import { memoryIo } from '../cli/memory-io.ts';

test('[O4] json is one object a line: level, time, constant message, fields', () => {
  const io = memoryIo();
  const log = createLogger({ level: 'info', format: 'json', colour: false, stream: io.stderr });
  log.info({ companion: 'a/b' }, 'companion created');
  log.child({ informer: 'configmaps' }).warn({}, 'watch broke\nin two');
  log.debug({}, 'not at this level');
  const lines = io.err().trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toEqual({ level: 'info', time: first?.['time'], companion: 'a/b', msg: 'companion created' });
  expect(String(first?.['time'])).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(second).toMatchObject({ level: 'warn', informer: 'configmaps' });
});

test('[O4] an error is its name and message in the field error; the stack only at debug', () => {
  const err = new NetworkError('refused', { code: 'ECONNREFUSED' });
  const lineAt = (level: 'info' | 'debug') => {
    const io = memoryIo();
    createLogger({ level, format: 'json', colour: false, stream: io.stderr }).error({ err }, 'gave up');
    return JSON.parse(io.err()) as Record<string, unknown>;
  };
  const { time: _, ...line } = lineAt('info');
  expect(line).toEqual({ level: 'error', error: 'NetworkError: refused', msg: 'gave up' });
  expect(lineAt('debug')['stack']).toContain('NetworkError');
});

test('[O4] numbers are rounded', () => {
  const io = memoryIo();
  const log = createLogger({ level: 'info', format: 'json', colour: false, stream: io.stderr });
  log.info({ durationMs: 3.456, sources: 2 }, 'synced');
  expect(JSON.parse(io.err())).toMatchObject({ durationMs: 3, sources: 2 });
});

test('[O4] the readable form has no colour where none is wanted', () => {
  const io = memoryIo();
  createLogger({ level: 'info', format: 'readable', colour: false, stream: io.stderr }).info(
    { companion: 'a/b' },
    'companion created',
  );
  expect(io.err()).toContain('companion a/b created');
  expect(io.err()).not.toContain('\u001b[');
});
