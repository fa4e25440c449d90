import { describe, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { type Answer, CONFIGMAPS, useSandbox, versionOf } from './client.ts';

const client = useSandbox();
const { request, create } = client;

describe('[B1] watches', () => {
  test('a selector makes an object that stops matching a DELETED, and one that starts an ADDED', async () => {
    const seen = await client.watch('labelSelector=pick=me');
    await create('c', { metadata: { name: 'c', labels: { pick: 'me' } } });
    const patch = (labels: object) =>
      request(`${CONFIGMAPS}/c`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify({ metadata: { labels } }),
      });
    await patch({ pick: 'other' });
    await patch({ x: 'y' });
    await patch({ pick: 'me' });
    await waitFor(() => seen.events.length === 3);
    expect(seen.events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED', 'ADDED']);
    seen.abort();
  });

  test('bookmarks come at the interval, with the version up to which all events were sent', async () => {
    await client.restart({ bookmarkIntervalMs: 20 });
    const seen = await client.watch('allowWatchBookmarks=true&labelSelector=nobody');
    await create('elsewhere');
    const version = await versionOf(client, CONFIGMAPS);
    const bookmarks = () => seen.events.filter(({ type }) => type === 'BOOKMARK');
    await waitFor(() => bookmarks().some(({ object }) => object.metadata.resourceVersion === version));
    seen.abort();
  });

  test('[W6] a watch from a future version sends nothing before it, not even bookmarks', async () => {
    await client.restart({ bookmarkIntervalMs: 5 });
    const future = Number(await versionOf(client, CONFIGMAPS)) + 2;
    const seen = await client.watch(`resourceVersion=${future}&allowWatchBookmarks=true`);
    const other = await client.watch('allowWatchBookmarks=true');
    await waitFor(() => other.events.length >= 3);
    for (const name of ['too-early', 'just-there', 'after']) await create(name);
    await waitFor(() => seen.events.some(({ object }) => object.metadata.name === 'after'));
    const versions = seen.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions.filter((version) => version < future)).toEqual([]);
    expect(seen.events.flatMap(({ object }) => object.metadata.name ?? [])).toEqual(['after']);
    for (const { abort } of [seen, other]) abort();
  });

  test('timeoutSeconds ends the watch, cleanly', async () => {
    const seen = await client.watch('timeoutSeconds=1');
    await seen.done;
    expect(seen.events).toEqual([]);
  });

  test('after compact, older versions and tokens get a 410, and a current watch continues', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    const first = await client.get(`${CONFIGMAPS}?limit=1`);
    const current = await client.watch(`resourceVersion=${first.metadata.resourceVersion}`);
    client.sandbox.compact();
    const late = await client.watch(`resourceVersion=${first.metadata.resourceVersion}`);
    await late.done;
    expect(late.events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    const page = await request(`${CONFIGMAPS}?limit=1&continue=${first.metadata.continue}`);
    expect(page.status).toBe(410);
    const inconsistent = ((await page.json()) as Answer).metadata.continue;
    const rest = await client.get(`${CONFIGMAPS}?continue=${inconsistent}`);
    expect(rest.items?.map((item) => item.metadata.name)).toEqual(['b', 'c']);
    await create('d');
    await waitFor(() => current.events.some(({ object }) => object.metadata.name === 'd'));
    current.abort();
  });

  test('a client that stops reading learns that it fell behind when it reads again', async () => {
    await client.restart({ historyLimit: 5 });
    const stop = new AbortController();
    const response = await request(
      `${CONFIGMAPS}?watch=true&resourceVersion=${await versionOf(client, CONFIGMAPS)}`,
      {
        signal: stop.signal,
      },
    );
    const data = { a: 'x'.repeat(900_000) };
    for (let i = 0; i < 40; i++) await create(`big-${i}`, { data });
    let text = '';
    for await (const chunk of response.body ?? []) text = (text + Buffer.from(chunk).toString()).slice(-2000);
    expect(text.trimEnd().split('\n').at(-1)).toContain('"type":"ERROR"');
    expect(text).toContain('"code":410');
  });
});
