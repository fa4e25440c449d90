import type { EventApi, EventSeries, KubeEvent, NewEvent } from '../../src/kube/api/events.ts';
import { keyOf, type ObjectKey } from '../../src/kube/api/object-key.ts';
import { ApiError } from '../../src/kube/errors.ts';

/** Events in memory, with the answers that the recorder depends on: 404, 409. */
export class MemoryEvents implements EventApi {
  readonly events = new Map<ObjectKey, NewEvent>();
  /** Requests, as verb and resource. */
  readonly requests: string[] = [];
  /** Called before each request has an effect; throws, or never resolves. */
  before: (request: string, signal: AbortSignal, key: ObjectKey) => Promise<void> = async () => undefined;
  /** Called after its effect, before the reply. */
  after: (request: string) => Promise<void> = async () => undefined;

  create(event: NewEvent, signal: AbortSignal): Promise<KubeEvent> {
    const key = keyOf(event as { readonly metadata: { readonly namespace: string; readonly name: string } });
    return this.#request('create events.events.k8s.io', key, signal, () => {
      if (this.events.has(key)) throw new ApiError('it exists', { status: 409, reason: 'AlreadyExists' });
      this.events.set(key, event);
      return event;
    });
  }

  patchSeries(key: ObjectKey, series: EventSeries, signal: AbortSignal): Promise<KubeEvent> {
    return this.#request('patch events.events.k8s.io', key, signal, () => this.#change(key, { series }));
  }

  patchMessage(
    key: ObjectKey,
    { message: note, ...change }: { readonly message: string; readonly series?: EventSeries },
    signal: AbortSignal,
  ): Promise<KubeEvent> {
    return this.#request('patch events', key, signal, () => this.#change(key, { note, ...change }));
  }

  /** Reason, text and count of each, in the order of their creation. */
  get told(): readonly (readonly [reason: string, note: string, count: number])[] {
    return [...this.events.values()].map(({ reason, note, series }) => [reason, note, series?.count ?? 1]);
  }

  async #request(
    request: string,
    key: ObjectKey,
    signal: AbortSignal,
    effect: () => KubeEvent,
  ): Promise<KubeEvent> {
    this.requests.push(request);
    await this.before(request, signal, key);
    const answer = effect();
    await this.after(request);
    return answer;
  }

  #change(key: ObjectKey, change: Partial<NewEvent>): KubeEvent {
    const event = this.events.get(key);
    if (event === undefined) throw new ApiError('not found', { status: 404, reason: 'NotFound' });
    const changed = { ...event, ...change };
    this.events.set(key, changed);
    return changed;
  }
}
