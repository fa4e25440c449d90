import { describe, expect, it } from 'vitest';
import { matchesPatterns } from '../../src/mirror/request/patterns.ts';
import { parseNotifyConfig, type Sink } from '../../src/notify/delivery/config.ts';
import { EVENT_TYPES } from '../../src/notify/event-types.ts';

const WEBHOOK = 'sinks:\n- name: ops\n  type: webhook\n  url: https://ops.example.com/hook\n';

function sinks(text: string): readonly Sink[] {
  const result = parseNotifyConfig(text, '/etc/notify');
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

function problemOf(text: string): string {
  const result = parseNotifyConfig(text, '/etc/notify');
  return result.ok ? '' : result.problem;
}

describe('[N1] the file of --notify-config', () => {
  it('[N1] gives a webhook everything that happens, with the names of keys, at least once', () => {
    const [sink] = sinks(WEBHOOK);
    expect(sink).toMatchObject({
      ...{ name: 'ops', type: 'webhook', url: 'https://ops.example.com/hook', content: 'keys' },
      ...{ guarantee: 'at-least-once', timeoutMs: 15_000, default: false, allowHttp: false },
      ...{ headersFile: undefined, caFile: undefined, signingKeyFiles: [] },
    });
    expect(sink?.types).toEqual(new Set(EVENT_TYPES));
    expect(sink && matchesPatterns(sink.sourceNamespaces, 'any')).toBe(true);
  });

  it('[N1] gives a chat new sources only, at most once', () => {
    const [sink] = sinks('sinks: [{name: chat, type: slack, urlFile: url}]');
    expect(sink).toMatchObject({ guarantee: 'at-most-once', url: { file: '/etc/notify/url' } });
    expect(sink?.types).toEqual(new Set(['source.created']));
  });

  it('[N1] takes short and full types, and paths relative to the file', () => {
    const [sink] = sinks(
      `${WEBHOOK}  types: [source.changed, io.workshop.mirror.source.deleted.v1]
  headersFile: headers
  signingKeyFiles: [new, /old]
  caFile: ca.crt
  sourceNamespaces: [shop, team-*]
  timeout: 1m30s
  default: true`,
    );
    expect(sink?.types).toEqual(new Set(['source.changed', 'source.deleted']));
    expect(sink).toMatchObject({
      headersFile: '/etc/notify/headers',
      signingKeyFiles: ['/etc/notify/new', '/old'],
      caFile: '/etc/notify/ca.crt',
      timeoutMs: 90_000,
      default: true,
    });
    expect(sink && matchesPatterns(sink.sourceNamespaces, 'team-a')).toBe(true);
    expect(sink && matchesPatterns(sink.sourceNamespaces, 'other')).toBe(false);
  });

  it.each([
    ['', 'it lists no sinks'],
    ['sinks: []', 'it lists no sinks'],
    ['{', 'it is not YAML'],
    [`${WEBHOOK}---\n${WEBHOOK}`, 'it has several YAML documents; write all sinks into one'],
    [`${WEBHOOK}  types: []`, 'sink ops: types: the list is empty'],
    [`${WEBHOOK}  sourceNamespaces: []`, 'sink ops: sourceNamespaces: the list is empty'],
    [`${WEBHOOK}  sourceNamespaces: [""]`, 'sink ops: sourceNamespaces: it admits no namespace'],
    [`${WEBHOOK}  sourceNamespaces: ["!shop"]`, 'sink ops: sourceNamespaces: it admits no namespace'],
    [`${WEBHOOK}  tipes: [x]`, 'sink ops: tipes: there is no such field; did you mean types?'],
    [`${WEBHOOK}sink: 1`, '"sink" is not a setting; did you mean sinks?'],
    [`${WEBHOOK}  types: [source.change]`, 'did you mean source.changed?'],
    [`${WEBHOOK}  content: values`, 'sink ops: content: write one of none, keys, full'],
    [`${WEBHOOK}  timeout: 10m`, 'sink ops: timeout: write a duration above 0 and up to 2m'],
    [`${WEBHOOK}  urlFile: x`, 'sink ops: url: write either url, or urlFile'],
    [`${WEBHOOK}  default: perhaps`, 'sink ops: default: write true or false'],
    [`${WEBHOOK}  types: source.changed`, 'sink ops: types: must be a list of strings'],
    [
      `${WEBHOOK}  sourceNamespaces: [Team]`,
      'sink ops: sourceNamespaces: "Team": namespace names are lower case',
    ],
    [WEBHOOK + WEBHOOK.replace('sinks:\n', ''), 'sink ops: the name is used twice'],
    [WEBHOOK.replace('ops\n', 'none\n'), 'sink none: name: it must have 1 to 40 characters'],
    [WEBHOOK.replace('https', 'http'), 'it must begin with https://, unless allowHttp is true'],
    [WEBHOOK.replace('https', 'ftp'), 'it must begin with https://'],
    [WEBHOOK.replace('//', '//me:secret@'), 'it has a password; move that to headersFile'],
    [WEBHOOK.replace('https://ops.example.com/hook', 'nonsense'), 'it is not an address'],
    ['sinks: [{name: a, type: pager, url: "https://x"}]', 'sink a: type: write one of webhook, slack'],
    ['sinks: [{name: a, type: slack, url: "https://x", content: full}]', 'a chat message never has data'],
  ])('[N1] says what is wrong in %j', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
    expect(problemOf(text)).not.toContain('secret');
  });

  it('[N1] says that a text is empty', () => {
    expect(problemOf('sinks:\n- name: ops\n  type: webhook\n  url: ""\n')).toBe('sink ops: url: it is empty');
  });

  it('[N1] says all that is wrong at once', () => {
    expect(problemOf(`${WEBHOOK}  timeout: x\n  content: y`).split('\n')).toHaveLength(2);
  });
});
