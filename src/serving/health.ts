import type { Page } from './http-server.ts';

/** One thing that must be well. */
export interface Check {
  readonly name: string;
  /** What is wrong now; undefined: nothing, or the check is not used. */
  readonly problem: () => string | undefined;
}

/**
 * The answer of `/livez` and its like (`endpoint`), as a kube-apiserver gives it: `ok`, or with
 * `?verbose` and after a failure a line for each check. `?exclude=NAME` leaves a check out, and may
 * be repeated. https://kubernetes.io/docs/reference/using-api/health-checks/
 */
export function healthPage(endpoint: string, checks: readonly Check[], query: URLSearchParams): Page {
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  let isHealthy = true;
  for (const { name, problem } of checks) {
    if (excluded.delete(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const reason = problem();
    if (reason !== undefined) isHealthy = false;
    lines.push(reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${reason}`);
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  lines.push(`${endpoint} check ${isHealthy ? 'passed' : 'failed'}`, '');
  const isShort = isHealthy && !query.has('verbose');
  return {
    status: isHealthy ? 200 : 500,
    contentType: 'text/plain; charset=utf-8',
    body: isShort ? 'ok' : lines.join('\n'),
  };
}
