/** What a notification may be about. */
export const EVENT_TYPES = [
  'source.created',
  'source.changed',
  'source.deleted',
  'companions.converged',
  'companions.failing',
  'companions.recovered',
  'deletes.held',
  'canary.waiting',
  'canary.failed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The CloudEvents type. Another meaning of the data takes another version. */
export function fullType(type: EventType): string {
  return `io.workshop.mirror.${type}.v1`;
}

/** Reads a short or a full type. */
export function parseEventType(text: string): EventType | undefined {
  return EVENT_TYPES.find((type) => text === type || text === fullType(type));
}

/** What lasts for a while and has a reason. It is told when it begins, or gets another topic. */
export type ConditionType = Extract<EventType, `deletes.${string}` | `canary.${string}`>;

/**
 * A waiting notification is replaced by a newer one of its aspect: what a receiver has not been
 * told yet and is no longer true need not be told.
 */
export function aspectOf(type: EventType): string {
  return type === 'companions.converged' ? type : type.slice(0, type.indexOf('.'));
}
