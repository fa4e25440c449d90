import { expect, it } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { chosenSinks } from '../../src/notify/choice.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';

const parsed = parseNotifyConfig(
  `sinks:
- {name: all, type: webhook, url: "https://all", default: true}
- {name: shop, type: webhook, url: "https://shop", default: true, sourceNamespaces: [shop]}
- {name: teams, type: webhook, url: "https://teams", sourceNamespaces: ["team-*", "!team-b"]}`,
  '/',
);
const sinks = parsed.ok ? parsed.value : [];

it.each([
  ['shop', undefined, ['all', 'shop'], []],
  ['other', undefined, ['all'], []],
  ['shop', 'none', [], []],
  ['shop', 'shop', ['shop'], []],
  ['team-a', 'teams,all', ['teams', 'all'], []],
  ['team-b', 'teams', [], ['sink teams does not accept sources of namespace team-b']],
  ['shop', 'shop,pager', ['shop'], ['there is no sink pager']],
  ['shop', 'Shop!', [], []],
] as const)('[N1] a source in %s with notify=%j chooses %j', (namespace, notify, names, problems) => {
  const choice = chosenSinks({ ref: objectKey(namespace, 'colors'), notify }, sinks);
  expect(choice.sinks.map(({ name }) => name)).toEqual(names);
  expect(choice.problems).toEqual(problems);
});
