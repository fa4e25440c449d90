import type { Dispatcher } from 'undici';
import type { RequestScope } from './request-scope.ts';

/** The whole of an answer, whatever its status. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: string;
}

/**
 * Sends a request and reads its answer. Rejects with undici's errors, and with the scope's reason
 * as soon as that ends. When a connection is there, and right before the request is written to it,
 * `refusal` may give an error to reject with instead.
 *
 * `dispatch` is the level below undici's `request`, which makes a stream for each answer. Without
 * the streams a first start over 1,000 sources takes 8 % less processor time and has 6 % more
 * writes a second, which keeps it within its bound (docs/benchmarks.md).
 */
export function answerTo(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  scope: RequestScope,
  refusal: () => Error | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let statusCode = 0;
    let headers: Answer['headers'] = {};
    const chunks: Buffer[] = [];
    const abort = () => {
      if (scope.reason === undefined) return;
      controller?.abort(scope.reason);
      // undici says nothing while the request waits for a connection.
      reject(scope.reason);
    };
    scope.once('abort', abort);
    dispatcher.dispatch(request, {
      onRequestStart: (begun) => {
        controller = begun;
        abort();
        const refused = refusal();
        if (refused !== undefined) begun.abort(refused);
      },
      // Called for informational answers (1xx) too, before the one that counts.
      onResponseStart: (_, status, received) => {
        statusCode = status;
        headers = received;
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => resolve({ statusCode, headers, body: Buffer.concat(chunks).toString() }),
      onResponseError: (_, error) => reject(error),
    });
  });
}
