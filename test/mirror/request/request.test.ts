import { describe, expect, test } from 'vitest';
import { companionKey, type MirrorRequest, parseRequest } from '../../../src/mirror/request/request.ts';
import { matchesTargets } from '../../../src/mirror/request/targets.ts';
import { type StringMap, vocabularyOf } from '../../../src/mirror/vocabulary.ts';
import { vocabulary } from '../wire.ts';
import { ask } from './ask.ts';

function request(asks: StringMap, name?: string): MirrorRequest {
  const result = ask(asks, name);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

function problemOf(asks: StringMap, name?: string): string {
  const result = ask(asks, name);
  return result.ok ? 'none' : result.problem;
}

const names = (asks: StringMap, candidates: readonly string[], labels: StringMap = {}) => {
  const { targets } = request(asks);
  return candidates.filter((name) => targets !== undefined && matchesTargets(targets, { name, labels }));
};

test('[M1] without annotations a source asks for one companion beside it, with all keys and policy delete', () => {
  const nothing = { exact: new Set(), globs: [] };
  expect(request({})).toEqual({
    targets: undefined,
    companionName: 'colors-synced',
    includeKeys: undefined,
    excludeKeys: nothing,
    renameKeys: new Map(),
    renderKeys: nothing,
    valuesFrom: [],
    copyLabels: nothing,
    copyAnnotations: nothing,
    deletionPolicy: 'delete',
    deleteAfter: undefined,
    settle: undefined,
    rollout: undefined,
  });
});

test('annotations of another domain ask for nothing, and --domain changes them all', () => {
  const annotations = { 'example.com/companion-name': 'other', 'workshop.io/companion-name': 'mine' };
  const source = { namespace: 'team-a', name: 'colors', annotations };
  expect(parseRequest(source, vocabularyOf('example.com'))).toMatchObject({
    value: { companionName: 'other' },
  });
  expect(parseRequest(source, vocabulary)).toMatchObject({ value: { companionName: 'mine' } });
});

describe('[M2] targets', () => {
  const all = ['team-a', 'team-b', 'team-secret', 'qa', 'prod'];
  test('a list names them', () => {
    expect(names({ 'target-namespaces': 'team-*, qa, !team-secret' }, all)).toEqual([
      'team-a',
      'team-b',
      'qa',
    ]);
  });

  test('a selector finds them by their labels', () => {
    const asks = { 'target-namespace-selector': 'env in (dev,qa)' };
    expect(names(asks, ['qa'], { env: 'qa' })).toEqual(['qa']);
    expect(names(asks, ['qa'], { env: 'prod' })).toEqual([]);
  });

  test('the selector adds to the list, and an exclusion applies to both', () => {
    const asks = { 'target-namespaces': 'prod, !team-secret', 'target-namespace-selector': 'env=dev' };
    expect(names(asks, all, { env: 'dev' })).toEqual(['team-a', 'team-b', 'qa', 'prod']);
    expect(names(asks, all, {})).toEqual(['prod']);
  });

  test('exclusions alone are valid beside a selector', () => {
    const asks = { 'target-namespaces': '!qa', 'target-namespace-selector': 'env' };
    expect(names(asks, ['qa', 'prod'], { env: '' })).toEqual(['prod']);
  });
});

describe('the companion name', () => {
  const cases: Readonly<Record<string, readonly [template: string, name: string]>> = {
    'by default is the name with -synced': ['{name}-synced', 'colors-synced'],
    'may hold the namespace': ['{namespace}-{name}', 'team-a-colors'],
    'may hold a placeholder twice': ['{name}.{name}', 'colors.colors'],
    'may be a constant': ['shared.config', 'shared.config'],
  };
  test.for(Object.entries(cases))('%s', ([, [template, name]]) => {
    const asked = request({ 'companion-name': template });
    expect(asked.companionName).toBe(name);
    expect(companionKey(asked, 'qa')).toBe(`qa/${name}`);
  });

  test('may be the name of the source if it has targets', () => {
    expect(request({ 'companion-name': '{name}', 'target-namespaces': '*' }).companionName).toBe('colors');
  });

  test.for([246, 250, 252])(
    '[R13] of a source name of %i characters may be as long as 253 and not longer',
    (length) => {
      const name = 'a'.repeat(length);
      const suffix = 'b'.repeat(253 - length);
      expect(request({ 'companion-name': `{name}${suffix}` }, name).companionName).toHaveLength(253);
      expect(problemOf({ 'companion-name': `{name}b${suffix}` }, name)).toBe(
        "workshop.io/companion-name: the companion's name would have 254 characters, and at most 253 are allowed; " +
          'shorten the name of the source, or set the annotation to a shorter name',
      );
    },
  );

  test('[R13] by default is valid for a source name of 246 characters, not for 247', () => {
    expect(request({}, 'a'.repeat(246)).companionName).toHaveLength(253);
    expect(problemOf({}, 'a'.repeat(247))).toContain('would have 254 characters');
  });
});

describe('[M3] keys', () => {
  test('a list of keys to include, or to exclude, is read', () => {
    expect(request({ 'include-keys': 'app.yaml, *.json' }).includeKeys).toEqual({
      exact: new Set(['app.yaml']),
      globs: [{ first: '', middle: [], last: '.json' }],
    });
    expect(request({ 'exclude-keys': 'secret' }).excludeKeys).toEqual({
      exact: new Set(['secret']),
      globs: [],
    });
  });

  test('empty lists to exclude or copy are valid', () => {
    const empty = { exact: new Set(), globs: [] };
    const asked = request({ 'exclude-keys': '', 'copy-labels': ' ', 'copy-annotations': ',' });
    expect(asked).toMatchObject({ excludeKeys: empty, copyLabels: empty, copyAnnotations: empty });
  });

  test('[M7] lists of metadata may hold prefixes with a slash', () => {
    expect(request({ 'copy-labels': 'team, app.example.com/*' }).copyLabels).toEqual({
      exact: new Set(['team']),
      globs: [{ first: 'app.example.com/', middle: [], last: '' }],
    });
    expect(request({ 'copy-annotations': '*' }).copyAnnotations).toEqual({
      exact: new Set(),
      globs: [{ first: '', middle: [], last: '' }],
    });
  });
});

test('the deletion policy is delete or retain', () => {
  expect(request({ 'deletion-policy': 'delete' }).deletionPolicy).toBe('delete');
  expect(request({ 'deletion-policy': 'retain' }).deletionPolicy).toBe('retain');
});

test('[D3] the delay of deletions is a duration', () => {
  expect(request({ 'delete-after': '1h30m' }).deleteAfter).toEqual({ ms: 5_400_000, text: '1h30m' });
});

describe('[R13] a bad annotation makes the request invalid; the problem names it and says how to fix it', () => {
  const emptyTargets = 'empty; name namespaces, such as "team-a, team-*", or remove the annotation';
  const onlyExclusions = 'only exclusions; include something too, such as "*", or remove the annotation';
  const emptySelector = 'empty; write a label selector, such as "env in (dev,qa)", or remove the annotation';
  const emptyKeys = 'empty; name keys, such as "app.yaml, *.json", or remove the annotation to copy all';
  const noKey =
    'not a possible key; write key names, in which "*" stands for any characters, such as "*.json"';
  const noName = 'is not a valid object name (a-z, 0-9, "-" and ".")';
  const noPlaceholder = 'is not a placeholder; there are "{name}" and "{namespace}"';
  const cases: Readonly<Record<string, readonly [asks: StringMap, key: string, problem: string]>> = {
    'an empty list of namespaces': [{ 'target-namespaces': '' }, 'target-namespaces', emptyTargets],
    'a list of blanks and commas': [{ 'target-namespaces': ' , ,' }, 'target-namespaces', emptyTargets],
    'an empty list beside a good selector': [
      { 'target-namespaces': '', 'target-namespace-selector': 'env' },
      'target-namespaces',
      emptyTargets,
    ],
    'exclusions alone': [
      { 'target-namespaces': '!team-secret, !kube-*' },
      'target-namespaces',
      onlyExclusions,
    ],
    'a regular expression where a prefix is meant': [
      { 'target-namespaces': 'team-.*' },
      'target-namespaces',
      '"team-.*": regular expressions are not supported; write an exact name, or a prefix that ends in one "*", such as "team-*"',
    ],
    'an empty selector': [{ 'target-namespace-selector': '' }, 'target-namespace-selector', emptySelector],
    'a blank selector beside a good list': [
      { 'target-namespaces': '*', 'target-namespace-selector': ' \n' },
      'target-namespace-selector',
      emptySelector,
    ],
    'a malformed selector': [
      { 'target-namespace-selector': 'env in dev' },
      'target-namespace-selector',
      '"env in dev": write "key=value", "key in (a,b)", "key notin (a,b)", "key" or "!key"',
    ],
    'an empty companion name': [
      { 'companion-name': '' },
      'companion-name',
      'empty; write a name, such as "{name}-synced"',
    ],
    'a blank companion name': [
      { 'companion-name': ' ' },
      'companion-name',
      'empty; write a name, such as "{name}-synced"',
    ],
    'another placeholder': [
      { 'companion-name': '{name}-{env}' },
      'companion-name',
      `"{env}" ${noPlaceholder}`,
    ],
    'a placeholder in another case': [
      { 'companion-name': '{Name}' },
      'companion-name',
      `"{Name}" ${noPlaceholder}`,
    ],
    'a placeholder that is not closed': [
      { 'companion-name': 'x-{name' },
      'companion-name',
      `"{name" ${noPlaceholder}`,
    ],
    'doubled braces': [{ 'companion-name': 'x-{{name}}' }, 'companion-name', `"{{name}}" ${noPlaceholder}`],
    'a brace alone': [{ 'companion-name': 'x}' }, 'companion-name', `"}" ${noPlaceholder}`],
    'a companion name in upper case': [
      { 'companion-name': 'Colors' },
      'companion-name',
      `"Colors" ${noName}`,
    ],
    'a companion name with a slash': [
      { 'companion-name': 'a/{name}' },
      'companion-name',
      `"a/colors" ${noName}`,
    ],
    'a companion name that ends in a hyphen': [
      { 'companion-name': '{name}-' },
      'companion-name',
      `"colors-" ${noName}`,
    ],
    'a companion that would be the source itself': [
      { 'companion-name': '{name}' },
      'companion-name',
      'the companion would be the source itself; choose a different name, or target other namespaces',
    ],
    'no keys to include': [{ 'include-keys': ' , ' }, 'include-keys', emptyKeys],
    'keys to include that cannot be': [{ 'include-keys': 'a b' }, 'include-keys', `"a b": ${noKey}`],
    'keys to exclude that cannot be': [{ 'exclude-keys': '!a' }, 'exclude-keys', `"!a": ${noKey}`],
    'labels that cannot be': [{ 'copy-labels': 'a=b' }, 'copy-labels', `"a=b": ${noKey}`],
    'annotations that cannot be': [{ 'copy-annotations': 'a b' }, 'copy-annotations', `"a b": ${noKey}`],
    'an empty deletion policy': [
      { 'deletion-policy': '' },
      'deletion-policy',
      '"": write "delete" or "retain"',
    ],
    'a delay without a number': [
      { 'delete-after': 'soon' },
      'delete-after',
      '"soon" is not a duration; write for example 500ms, 30s, 1h30m or 1d',
    ],
    'a delay of more than a year': [
      { 'delete-after': '366d' },
      'delete-after',
      '"366d" is too long; write at most 365d',
    ],
    'another deletion policy': [
      { 'deletion-policy': 'Retain' },
      'deletion-policy',
      '"Retain": write "delete" or "retain"',
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [asks, key, problem]]) => {
    expect(problemOf(asks)).toBe(`workshop.io/${key}: ${problem}`);
  });
});
