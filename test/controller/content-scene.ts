import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Action } from './content-history.ts';
import { ContentModel, type HeldContent } from './content-model.ts';
import { revisionOf, shortOf } from './rolling.ts';
import type { World } from './world.ts';

const SOURCE = 'home/colors';
/** Of `settle` and `delete-after`. */
const WAITED_FOR = '20s';

/** Actions on objects; those on the controller are the player's. */
type Change = Exclude<Action, { readonly do: 'burst' | 'release' | 'stop' | 'start' | 'fault' }>;

/** A companion that is there. */
export interface Seen {
  /** Its content, what was last written there, and its marks. */
  readonly line: string;
  /** With which its deletion is held. */
  readonly wave: string | undefined;
}

/** The source `home/colors` in the cluster, what the model says of it, and what is made of it. */
export class ContentScene {
  readonly world: World;
  readonly model: ContentModel;

  /** `templates`: the contents that have a placeholder. */
  constructor(world: World, templates: readonly string[]) {
    this.world = world;
    this.model = new ContentModel(templates);
  }

  async begin(): Promise<void> {
    const labels = this.world.ours({ managed: 'values' });
    const metadata = { namespace: this.world.full('home'), name: 'options', labels };
    await this.world.person.create({ metadata, data: this.#values() });
    await this.#create();
  }

  async #create(): Promise<void> {
    const [namespace = '', name = ''] = this.world.full(SOURCE).split('/');
    await this.world.person.create(this.#written({ namespace, name }));
  }

  #asks(): StringMap {
    const { keep, pin, canary, bake, approved, targets, settles, isDelayed, allowed } = this.model;
    const inWorld = (list: string) =>
      list
        .split(',')
        .map((item) => this.world.full(item))
        .join();
    return {
      'render-keys': '*',
      'values-from': 'options',
      'target-namespaces': inWorld(targets),
      ...(keep !== undefined && { 'keep-revisions': String(keep) }),
      ...(pin !== undefined && { pin: shortOf(this.#data(pin)) }),
      ...(canary && { canary: inWorld('qa-*'), 'canary-bake': bake }),
      ...(approved !== undefined && { 'canary-approve': shortOf(this.#data(approved)) }),
      ...(settles && { settle: WAITED_FOR }),
      ...(isDelayed && { 'delete-after': WAITED_FOR }),
      ...(allowed.source.size > 0 && { 'allow-deletes': [...allowed.source].join() }),
    };
  }

  #data(content: string): StringMap {
    return { content: this.model.texts(content).template };
  }

  #values(): StringMap {
    const { value } = this.model;
    return value === undefined ? {} : { v: value };
  }

  /** The source, as it should be now. `metadata`: what else it has. */
  #written<M extends object>(metadata: M) {
    const { source, content } = this.model;
    const labels = source === 'labelled' ? this.world.ours({ managed: 'true' }) : {};
    const annotations = this.world.ours(this.#asks());
    return { metadata: { ...metadata, labels, annotations }, data: this.#data(content) };
  }

  async writeSource(): Promise<void> {
    if (this.model.source === 'absent') return;
    await this.world.person.edit(this.world.full(SOURCE), (there) => ({
      ...there,
      ...this.#written(there.metadata),
    }));
  }

  /** What somebody does to the source, to companions or to namespaces. */
  async change(action: Change): Promise<void> {
    switch (action.do) {
      case 'source':
        return this.#changeSource(action.is);
      case 'delete revision':
        if (!this.model.kept.delete(action.of)) return;
        return this.world.person.delete(this.world.full(revisionOf(this.#data(action.of))));
      case 'value':
        this.model.value = action.to;
        await this.world.person.edit(this.world.full('home/options'), (there) => ({
          ...there,
          data: this.#values(),
        }));
        return;
      case 'namespace':
        return this.#toggleNamespace(action.name);
      case 'tamper':
      case 'delete':
      case 'condemn':
        return this.#meddle(action.do, action.name);
      default:
        this.model.ask(action);
        return this.writeSource();
    }
  }

  /** The annotation `allow-deletes`, as the model says. */
  async writeAllowance(on: 'source' | 'namespace'): Promise<void> {
    if (on === 'source') return this.writeSource();
    const waves = this.model.allowed.namespace;
    const annotations = {
      [`${this.world.domain}/allow-deletes`]: waves.size === 0 ? null : [...waves].join(' '),
    };
    await this.world.person.patchNamespace(this.world.full('home'), { metadata: { annotations } });
  }

  async #changeSource(is: ContentModel['source']): Promise<void> {
    const model = this.model;
    const wasThere = model.source !== 'absent';
    model.source = is;
    if (is !== 'absent') return wasThere ? this.writeSource() : this.#create();
    if (!wasThere) return;
    await this.world.person.delete(this.world.full(SOURCE));
    model.kept.clear();
    model.allowed.source.clear();
  }

  async #toggleNamespace(short: string): Promise<void> {
    const { namespaces, companions } = this.model;
    const full = this.world.full(short);
    if (!namespaces.delete(short)) {
      namespaces.add(short);
      return this.world.createNamespace(short);
    }
    await this.world.person.deleteNamespace(full);
    await waitFor(async () => (await this.world.person.namespace(full)) === undefined);
    companions.delete(short);
  }

  async #meddle(what: 'tamper' | 'delete' | 'condemn', short: string): Promise<void> {
    const { companions } = this.model;
    const held = companions.get(short);
    if (held === undefined) return;
    // While the controller is stopped, what should exist may not be there yet.
    if ((await this.world.configMap(`${short}/colors-synced`)) === undefined) return;
    const key = this.world.full(`${short}/colors-synced`);
    const { person } = this.world;
    if (what === 'delete') {
      companions.delete(short);
      await person.delete(key);
    }
    if (what === 'tamper') {
      companions.set(short, { ...held, content: undefined });
      await person.patch(key, { data: { content: 'by hand' } });
    }
    if (what === 'condemn') {
      companions.set(short, { ...held, isCondemned: true });
      await person.patch(key, { metadata: { annotations: this.world.ours({ verdict: 'bad' }) } });
    }
  }

  /** What a companion should look like: one line to compare. */
  looksLike({ content, written, value, isNamed, isCondemned, isFailed }: HeldContent): string {
    const text = this.model.texts(written).rendered(value) ?? '';
    const name = isNamed ? shortOf(this.#data(written)) : undefined;
    return lineOf(content ? text : 'by hand', shortOf({ content: text }), name, isCondemned, isFailed);
  }

  /** The companions there, by their namespaces. */
  async companions(): Promise<ReadonlyMap<string, Seen>> {
    const found = await Promise.all(
      [...this.model.namespaces].map(async (name) => {
        const companion = await this.world.configMap(`${name}/colors-synced`);
        return companion === undefined ? [] : [[name, this.#seen(companion)] as const];
      }),
    );
    return new Map(found.flat());
  }

  #seen({ data, metadata }: ConfigMap): Seen {
    const ours = (key: string) => metadata.annotations?.[`${this.world.domain}/${key}`];
    const checksum = ours('source-checksum')?.slice(0, 8);
    const marks = [ours('verdict') !== undefined, ours('canary-failed') !== undefined];
    return { line: lineOf(data?.['content'], checksum, ours('rendered-from'), ...marks), wave: ours('held') };
  }

  async revisions(): Promise<readonly (readonly [string | undefined, string | undefined])[]> {
    const { domain, person } = this.world;
    const all = await person.configMaps(this.world.full('home'), `${domain}/managed=revision`);
    const ours = (at: number, key: string) => all[at]?.metadata.annotations?.[`${domain}/${key}`];
    return all
      .map((object, at) => ({
        order: Number(ours(at, 'revision')),
        row: [object.data?.['content'], ours(at, 'canary-stage')] as const,
      }))
      .sort((one, other) => one.order - other.order)
      .map(({ row }) => row);
  }
}

const lineOf = (...parts: readonly unknown[]) => parts.join();
