import { expect, onTestFinished, test } from 'vitest';
import { recording } from '../../src/cli/session/event-recording.ts';
import { EventRecorder } from '../../src/recorder/recorder.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { MemoryEvents } from '../recorder/memory-events.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('[O3] a replica that leads again continues the Event that another has left', async () => {
  const clock = new ManualClock();
  const api = new MemoryEvents();
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const startReplica = () => {
    const common = { clock, random: () => 0, isBusy: () => false, log: new RecordedLog() };
    const recorder = new EventRecorder({
      api,
      controller: 'example.com/painter',
      instance: 'here',
      ...common,
    });
    const running = recorder.run(stopping.signal);
    const controller = { run: () => running, takeOver: async () => undefined };
    const { takeOver } = recording(controller, { recorder, stop: () => running });
    const record = async (note: string) => {
      const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'home', name: 'colors', uid: 'u' };
      recorder.record({ regarding, type: 'Normal', reason: 'Mirrored', action: 'Mirror', note });
      await clock.advance(1_000);
    };
    return { takeOver, record };
  };
  const [one, two] = [startReplica(), startReplica()];
  await one.takeOver();
  await one.record('1 companion');
  await two.takeOver();
  await two.record('2 companions');
  await one.takeOver();
  await one.record('1 companion');
  expect(api.told).toEqual([['Mirrored', '1 companion', 3]]);
});
