import { type ObjectKey, objectKey } from '../kube/api/object-key.ts';
import { digestOf } from '../mirror/observe/digest.ts';
import { revisionKey, shortChecksum } from '../mirror/observe/revision.ts';
import {
  annotateConfigMap,
  createConfigMap,
  labelConfigMap,
  patchData,
  removeAnnotation,
} from './commands.ts';
import { DELETE_BRAKE, GUEST, type Setting, TEAMS } from './setting.ts';
import type { Step } from './step.ts';
import type { View } from './view.ts';

/** Mistakes, and what becomes of them. */
export function aBadDay({ vocabulary, home }: Setting): readonly Step[] {
  const source = objectKey(home, 'shapes');
  const companions = [...TEAMS, GUEST].map((namespace) => objectKey(namespace, 'shapes-synced'));
  const canary = objectKey(TEAMS[0], 'shapes-synced');
  const others = companions.filter((key) => key !== canary);
  const data = { corner: 'round' };
  const checksum = (corner: string) => digestOf({ data: { corner }, binaryData: {} });
  const revision = (corner: string) => revisionKey({ namespace: home, name: 'shapes' }, checksum(corner));
  const target = (list: string) => annotateConfigMap(source, vocabulary.targetNamespaces, list);
  const isMarked = (view: View, key: ObjectKey) => view.now(key)?.annotations[vocabulary.held] !== undefined;
  const isSame = (view: View, key: ObjectKey) => view.now(key)?.uid === view.before(key)?.uid;
  return [
    {
      title: 'Have a source that everybody needs',
      story: 'Annotated first and labelled then, so that nothing is mirrored before it says where to.',
      commands: [
        createConfigMap(source, data),
        target('demo-*'),
        labelConfigMap(source, vocabulary.managed, 'true'),
      ],
      expected: `companions of ${source} in ${TEAMS.join(', ')} and ${GUEST}`,
      effect: (view) => view.hold(companions, data) && `${companions.length} companions`,
    },
    {
      title: 'Mistype the list',
      story:
        'dmeo-* matches nothing, so no companion is wanted any more, and a mirror would delete them all within ' +
        `milliseconds. The delete brake (--delete-brake=${DELETE_BRAKE} here) holds them: so many at once may be a slip. ` +
        'Each gets a mark and stays as it is until its source wants it again or a person releases it. Time alone ' +
        'never releases.',
      commands: [target('dmeo-*')],
      expected: 'every companion to stay, marked as held',
      effect: (view) =>
        view.hold(companions, data) &&
        companions.every((key) => isMarked(view, key) && isSame(view, key)) &&
        view.log.some(({ level, source: about }) => level === 'warn' && about === source) &&
        `${companions.length} companions are held, none is gone`,
    },
    {
      title: 'Correct it',
      story:
        'The companions are wanted again, and the marks go: nothing has happened. Had it been meant: ' +
        '"mirror-controller release" deletes what is held, with your own rights.',
      commands: [target('demo-*')],
      expected: 'the same companions, without marks',
      effect: (view) =>
        view.hold(companions, data) &&
        companions.every((key) => !isMarked(view, key) && isSame(view, key)) &&
        'the same companions as before',
    },
    {
      title: 'Keep what was, from now on',
      story:
        'With keep-revisions, every content of the source is kept as an immutable ConfigMap beside it, before the ' +
        'first companion gets it. So one can go back.',
      commands: [annotateConfigMap(source, vocabulary.keepRevisions, '3')],
      expected: `the revision ${revision('round')}`,
      effect: (view) => view.hold([revision('round')], data) && `${revision('round')} keeps corner=round`,
    },
    {
      title: 'Write something wrong',
      story: 'A mirror is fast with mistakes, too: every namespace has it at once.',
      commands: [patchData(source, { corner: 'sharp' })],
      expected: 'every companion to hold corner=sharp',
      effect: (view) =>
        view.hold(companions, { corner: 'sharp' }) && `corner=sharp is in ${companions.length} namespaces`,
    },
    {
      title: 'Undo it',
      story:
        'The annotation pin names the content that companions hold, whatever the source says. "mirror-controller ' +
        'undo" finds the one before and sets it, with your own rights. The source can be repaired in peace.',
      commands: [annotateConfigMap(source, vocabulary.pin, shortChecksum(checksum('round')))],
      expected: 'every companion to hold corner=round again',
      effect: (view) =>
        view.hold(companions, data) &&
        view.hold([source], { corner: 'sharp' }) &&
        'corner=round is back everywhere; the source still says sharp',
    },
    {
      title: 'Repair the source, and let companions follow it again',
      story: 'Without the pin, companions hold what the source says.',
      commands: [patchData(source, { corner: 'soft' }), removeAnnotation(source, vocabulary.pin)],
      expected: 'every companion to hold corner=soft',
      effect: (view) => view.hold(companions, { corner: 'soft' }) && 'corner=soft is everywhere',
    },
    {
      title: 'Try new content in one namespace first',
      story:
        `With a canary, new content goes to ${TEAMS[0]} first. The others keep the earlier content until it has ` +
        'proved itself: here until a person approves it (manual), usually after some time.',
      commands: [
        annotateConfigMap(source, vocabulary.canary, TEAMS[0]),
        annotateConfigMap(source, vocabulary.canaryBake, 'manual'),
        patchData(source, { corner: 'broken' }),
      ],
      expected: `corner=broken in ${TEAMS[0]} alone`,
      effect: (view) =>
        view.hold([canary], { corner: 'broken' }) &&
        view.hold(others, { corner: 'soft' }) &&
        `corner=broken is in ${TEAMS[0]} alone`,
    },
    {
      title: 'Let a smoke test object',
      story:
        'Anything that may annotate the companion in a canary namespace can stop the content, such as the Job of a ' +
        'smoke test. The canary goes back to the earlier content. No other namespace ever got the new one.',
      commands: [annotateConfigMap(canary, vocabulary.verdict, 'bad')],
      expected: 'corner=soft everywhere, and the content marked as failed',
      effect: (view) =>
        view.hold(companions, { corner: 'soft' }) &&
        others.every((key) => view.isUntouched(key)) &&
        view.now(revision('broken'))?.annotations[vocabulary.canaryStage] === 'failed' &&
        `corner=soft is everywhere; the other ${others.length} companions were never touched`,
    },
  ];
}
