import type { Dispatcher } from 'undici';
import type { RequestScope } from './request-scope.ts';

/** The whole of an answer, whatever its status. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As UTF-8. */
  readonly body: string;
}

/**
 * One request and its answer, as long as `scope` lasts. By undici's `dispatch`, not its `request`: that makes a stream,
 * a signal and their listeners for each answer, a sixth of our processor time in a cold start (docs/performance.md).
 * Rejects with the scope's failure and with undici's errors.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  scope: RequestScope,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let statusCode = 0;
    let headers: Answer['headers'] = {};
    const chunks: Buffer[] = [];
    const forget = scope.onFailure((failure) => {
      controller?.abort(failure);
      // Which may never have got a connection; then undici says nothing.
      reject(failure);
    });
    dispatcher.dispatch(request, {
      onRequestStart: (begun) => {
        controller = begun;
        if (scope.failure !== undefined) begun.abort(scope.failure);
      },
      // Informational answers (1xx) come before the one that counts.
      onResponseStart: (_, status, received) => {
        statusCode = status;
        headers = received;
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        forget();
        resolve({ statusCode, headers, body: textOf(chunks) });
      },
      onResponseError: (_, error) => {
        forget();
        reject(error);
      },
    });
  });
}

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString();
}
