import { expect, test } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { shardKey, shardOf } from '../../src/notify/state/stored-record.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { source } from '../mirror/wire.ts';
import { PREFIX, Room } from './notifier-room.ts';

const SHARD = 3;
const HOUR_MS = 3_600_000;

/** Of sources whose records are all in one ConfigMap. */
function uidsOfOneShard(count: number): readonly string[] {
  const uids: string[] = [];
  for (let n = 0; uids.length < count; n++) {
    const uid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    if (shardOf(uid) === SHARD) uids.push(uid);
  }
  return uids;
}

/** Takes no ConfigMap of more than 1 MiB. */
class LimitedApi extends MemoryApi {
  override async patch(...[key, patch]: Parameters<MemoryApi['patch']>) {
    const after = { ...(await this.get(key)).data, ...patch.data };
    const size = Object.values(after).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
    if (size > 2 ** 20) throw new ApiError('data: Too long', { status: 422, reason: 'Invalid' });
    return super.patch(key, patch);
  }
}

test('[N4] of more changes than the state has room for, all are sent, one part after the other', async () => {
  const sources = uidsOfOneShard(600).map((uid, at) => ({
    uid,
    key: objectKey('shop', `application-config-${at}`),
  }));
  const room = new Room(new LimitedApi());
  const sinks = ['a', 'b', 'c'].map(
    (name) => `{name: ${name}, type: webhook, url: "https://ops", default: true}`,
  );
  room.config = `sinks: [${sinks}]`;
  const editAll = (version: number) => {
    for (const { key, uid } of sources) {
      const options = { uid, data: { sky: `v${version}` }, resourceVersion: `${version}` };
      room.api.objects.set(key, source(key, {}, options));
    }
  };
  editAll(1);
  void room.start();
  await room.clock.advance(60_000);
  editAll(2);
  // So that each sink has been sent something, and its records are as large as usual.
  for (const [at, { key }] of sources.entries()) {
    room.look({}, key);
    if (at % 50 === 49) await room.clock.advance(60_000);
  }
  await room.clock.advance(HOUR_MS);
  // Changed, and converged, for each of three sinks.
  expect(room.sent).toHaveLength(sources.length * 3 * 2);
  await room.stop();
  editAll(3);
  void room.start();
  for (const { key } of sources) room.look({}, key);
  await room.clock.advance(6 * HOUR_MS);
  expect(room.sent).toHaveLength(2 * sources.length * 3 * 2);
  const told = room.log.told.filter(({ configMap }) => configMap === shardKey(PREFIX, SHARD));
  expect(told.map(({ level, message }) => [level, message])).toEqual([
    ['warn', expect.stringContaining('notification state not written')],
    ['info', 'resolved'],
  ]);
});
