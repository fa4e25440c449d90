import { ApiError, NetworkError } from '../kube/errors.ts';

/** The demo cannot go on: a step does not hold, the cluster refuses, or a person interrupted. The message is a whole sentence. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
}

/** What the API server, or the way to it, objects: `403 …`. Throws anything else again: that is a fault of ours. */
export function refusalOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.message}`;
  if (error instanceof NetworkError) return error.message;
  throw error;
}
