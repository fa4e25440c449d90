import { expect, test } from 'vitest';
import { type Check, healthPage } from '../../src/serving/health.ts';

const good = (name: string): Check => ({ name, problem: () => undefined });
const bad = (name: string, reason: string): Check => ({ name, problem: () => reason });
const page = (checks: readonly Check[], query = '') => {
  const { status, body } = healthPage('livez', checks, new URLSearchParams(query));
  return { status, body };
};

test('[O2] it says ok, and with ?verbose a line for each check, as a kube-apiserver does', () => {
  const checks = [good('watch-configmaps'), good('lease')];
  expect(page(checks)).toEqual({ status: 200, body: 'ok' });
  expect(page(checks, 'verbose')).toEqual({
    status: 200,
    body: '[+]watch-configmaps ok\n[+]lease ok\nlivez check passed\n',
  });
});

test('[O2] one failing check fails the whole, and the answer lists all of them with the reason', () => {
  expect(page([good('event-loop'), bad('lease', 'not renewed for 40 s')])).toEqual({
    status: 500,
    body: '[+]event-loop ok\n[-]lease failed: not renewed for 40 s\nlivez check failed\n',
  });
});

test('[O2] ?exclude leaves checks out, and names those that do not exist', () => {
  const checks = [bad('lease', 'lost'), bad('workers', 'stuck'), good('event-loop')];
  expect(page(checks, 'exclude=lease').status).toBe(500);
  expect(page(checks, 'exclude=lease&exclude=workers')).toEqual({ status: 200, body: 'ok' });
  expect(page(checks, 'exclude=lease&exclude=workers&exclude=a&exclude="b"&verbose').body).toBe(
    '[+]lease excluded: ok\n[+]workers excluded: ok\n[+]event-loop ok\n' +
      'warn: some health checks cannot be excluded: no matches for "a","\\"b\\""\nlivez check passed\n',
  );
});
