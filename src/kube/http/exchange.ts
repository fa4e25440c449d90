import type { Dispatcher } from 'undici';
import { ArrivingBody } from './arriving-body.ts';
import type { RequestScope } from './request-scope.ts';

/** What comes before the body of an answer. */
interface AnswerHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The whole of an answer, whatever its status. */
export interface Answer extends AnswerHead {
  /** As UTF-8. */
  readonly body: string;
}

/** An answer of which the body is still to come. */
export interface BegunAnswer extends AnswerHead {
  readonly body: AsyncIterable<Buffer>;
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
    let statusCode = 0;
    let headers: AnswerHead['headers'] = {};
    const chunks: Buffer[] = [];
    const life = lifeIn(scope, reject);
    dispatcher.dispatch(request, {
      ...life,
      // Informational answers (1xx) come before the one that counts.
      onResponseStart: (_, status, received) => {
        statusCode = status;
        headers = received;
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        life.end();
        resolve({ statusCode, headers, body: textOf(chunks) });
      },
    });
  });
}

/** The same, of an answer whose body is read as it arrives: resolves when that begins. */
export function beginExchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  scope: RequestScope,
): Promise<BegunAnswer> {
  return new Promise((resolve, reject) => {
    let body: ArrivingBody | undefined;
    const life = lifeIn(scope, (failure) => {
      body?.end(failure);
      reject(failure);
    });
    dispatcher.dispatch(request, {
      ...life,
      onResponseStart: (controller, statusCode, headers) => {
        if (statusCode < 200) return;
        body = new ArrivingBody(controller);
        resolve({ statusCode, headers, body });
      },
      onResponseData: (_, chunk) => {
        body?.push(chunk);
      },
      onResponseEnd: () => {
        life.end();
        body?.end();
      },
    });
  });
}

/** What every handler of undici's needs, so that the request ends when `scope` does. `end` lets go of the scope. */
function lifeIn(scope: RequestScope, onFailure: (failure: Error) => void) {
  let controller: Dispatcher.DispatchController | undefined;
  const end = scope.onFailure((failure) => {
    controller?.abort(failure);
    // It may never have got a connection; then undici says nothing.
    onFailure(failure);
  });
  return {
    end,
    onRequestStart: (begun: Dispatcher.DispatchController) => {
      controller = begun;
      if (scope.failure !== undefined) begun.abort(scope.failure);
    },
    onResponseError: (_: Dispatcher.DispatchController, error: Error) => {
      end();
      onFailure(error);
    },
  };
}

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString();
}
