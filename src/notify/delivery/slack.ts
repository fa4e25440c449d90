import type { EventType } from '../event-types.ts';
import type { Item } from './cloud-event.ts';

/** Most sources that a folded message names. */
const MOST_NAMED = 20;

/** Of one source, and of several. */
const SAYS: Readonly<Record<EventType, { readonly one: string; readonly several: string }>> = {
  'source.created': { one: 'is mirrored now', several: 'are mirrored now' },
  'source.changed': { one: 'has changed', several: 'have changed' },
  'source.deleted': { one: 'is no longer mirrored', several: 'are no longer mirrored' },
  'companions.converged': {
    one: 'has reached all its companions',
    several: 'have reached all their companions',
  },
  'companions.failing': { one: 'has a failing companion', several: 'have failing companions' },
  'companions.recovered': {
    one: 'has all its companions in sync again',
    several: 'have all their companions in sync again',
  },
  'deletes.held': {
    one: 'has companions whose deletion is held',
    several: 'have companions whose deletion is held',
  },
  'canary.waiting': { one: 'waits for its canary', several: 'wait for their canaries' },
  'canary.failed': { one: 'has a canary that failed', several: 'have canaries that failed' },
};

/** The body for Slack's incoming webhooks, and for chats that take the same (SPEC N7). */
export function slackBody(items: readonly Item[], withKeys: boolean): string {
  const [only] = items;
  const text = items.length === 1 && only !== undefined ? sentence(only, withKeys) : folded(items);
  // Names must not become links, and `<!channel>` must not call anybody.
  return JSON.stringify({ text, unfurl_links: false, unfurl_media: false });
}

function sentence({ ref, notification }: Item, withKeys: boolean): string {
  const { type, version, changedKeys = [], reason } = notification;
  const keys = withKeys && changedKeys.length > 0 ? `: ${namesOf(changedKeys)}` : '';
  const why = reason === undefined ? '' : `: ${escaped(reason)}`;
  const what = type === 'source.deleted' ? '' : ` (version ${version.slice(0, 8)})`;
  return `ConfigMap *${escaped(ref)}* ${SAYS[type].one}${what}${keys}${why}`;
}

function folded(items: readonly Item[]): string {
  const types = [...new Set(items.map(({ notification }) => notification.type))];
  const line = (type: EventType) => {
    const refs = items.filter(({ notification }) => notification.type === type).map(({ ref }) => ref);
    const says = refs.length === 1 ? SAYS[type].one : SAYS[type].several;
    return `${refs.length} ${refs.length === 1 ? 'ConfigMap' : 'ConfigMaps'} ${says}: ${namesOf(refs)}`;
  };
  return types.map(line).join('\n');
}

function namesOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return names.slice(0, MOST_NAMED).map(escaped).join(', ') + more;
}

/** https://docs.slack.dev/messaging/formatting-message-text/#escaping */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
