import type { TransportOptions } from '../../kube/http/transport.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const CODES = ['200', '201', '401', '403', '404', '409', '410', '422', '429', '500', '503', '504', '<error>'];

/** Counts requests to the API server under client-go's name. To be called once. */
export function countAnswers(metrics: Metrics): NonNullable<TransportOptions['onAnswer']> {
  const answers = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by method and status of the answer; <error>: none came.',
    labels: { code: CODES, method: METHODS },
  });
  return (code, method) => answers.with(code, method).inc();
}
