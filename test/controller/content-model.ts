import { type Asking, type SourceState, TARGETS } from './content-history.ts';

/** What SPEC D1-D7 say of one source `home/colors`, without the code under test. */
export interface HeldContent {
  /** Undefined: somebody has changed it by hand. */
  readonly content: string | undefined;
  /** What the controller has last written there. */
  readonly written: string;
  /** What was filled in for its placeholder, if it has one. */
  readonly value: string | undefined;
  /** Whether the companion says which content was rendered. */
  readonly isNamed: boolean;
  readonly isCondemned: boolean;
  readonly isFailed: boolean;
  /** The wave with which its deletion was held when all was last settled. */
  readonly wave?: string | undefined;
}

type Stage = 'trying' | 'failed' | undefined;

/** What a source holds, and what companions hold of it. */
export interface Texts {
  readonly template: string;
  /** Undefined: it cannot be rendered. */
  rendered(value: string | undefined): string | undefined;
}

/**
 * What must be true of a companion when all is settled. `stays`: nothing is written to it.
 * `unwanted`: it is gone, or held as it was. `held`: it was held, so it still is. `released`: it is
 * gone.
 */
type Fate = 'wanted' | 'stays' | 'unwanted' | 'held' | 'released';

export class ContentModel {
  source: SourceState = 'labelled';
  targets = 'qa-*,team-*';
  content = 'a';
  keep: number | undefined = 2;
  pin: string | undefined;
  canary = false;
  bake: 'manual' | '10s' = 'manual';
  approved: string | undefined;
  /** Undefined: no value, so contents with a placeholder are unresolved. */
  value: string | undefined = 'x';
  settles = false;
  isDelayed = false;
  /** Waves that the annotation `allow-deletes` lists, by what carries it. */
  readonly allowed = { source: new Set<string>(), namespace: new Set<string>() };
  /** Those that begin with `qa-` are canaries. */
  readonly namespaces = new Set(['qa-a', 'team-a', 'team-b']);
  /** Those that exist, wanted or held. */
  readonly companions = new Map<string, HeldContent>();
  /** The oldest first. */
  readonly kept = new Map<string, Stage>();
  readonly #stay = new Set<string>();
  readonly #templates: readonly string[];

  /** `templates`: the contents that have a placeholder for the value. */
  constructor(templates: readonly string[]) {
    this.#templates = templates;
  }

  texts(content: string): Texts {
    if (!this.#templates.includes(content)) return { template: content, rendered: () => content };
    const rendered = (value: string | undefined) => value && `${content} for ${value}`;
    return { template: `${content} for $(mirror.value.v)`, rendered };
  }

  /** A canary needs revisions: invalid, so everything stays as it is. */
  get isInvalid(): boolean {
    return this.source === 'labelled' && this.canary && this.keep === undefined;
  }

  /** The source says something else from now on. */
  ask(action: Asking): void {
    switch (action.do) {
      case 'edit':
        this.content = action.to;
        return;
      case 'pin':
        this.pin = action.to;
        return;
      case 'approve':
        this.approved = action.to;
        return;
      case 'keep':
        this.keep = action.count;
        return;
      case 'canary':
        this.canary = action.on;
        return;
      case 'settle':
        this.settles = action.on;
        return;
      case 'delay':
        this.isDelayed = action.on;
        return;
      case 'bake':
        this.bake = action.time;
        return;
      case 'target':
        this.targets = action.list;
    }
  }

  /** The state when a controller has done all there is to do, but for deletions. */
  settle(): void {
    this.#stay.clear();
    if (this.source !== 'labelled' || this.isInvalid) return;
    this.#keepContent();
    const stage = this.#stage();
    const stable = [...this.kept].findLast(([each, its]) => each !== this.content && !its)?.[0];
    const isFollowing = this.pin === undefined || this.pin === this.content;
    const inUse = [...(isFollowing ? [] : [this.pin]), ...(stage ? [stable] : [])];
    this.#prune(inUse);
    for (const name of this.#wanted()) this.#write(name, stage, stable);
  }

  fateOf(name: string): Fate {
    if (this.isInvalid) return 'stays';
    if (this.isWanted(name)) return this.#stay.has(name) ? 'stays' : 'wanted';
    const wave = this.companions.get(name)?.wave ?? '';
    const { source, namespace } = this.allowed;
    if (wave === '') return 'unwanted';
    if (this.source === 'labelled') return source.has(wave) ? 'released' : 'held';
    if (namespace.has(wave)) return 'released';
    // Nobody watches an unlabelled source. Whatever starts a plan, that reads it.
    return this.source === 'unlabelled' && source.has(wave) ? 'unwanted' : 'held';
  }

  isWanted(name: string): boolean {
    return this.source === 'labelled' && this.namespaces.has(name) && TARGETS[this.targets]?.(name) === true;
  }

  #wanted(): readonly string[] {
    return [...this.namespaces].filter((name) => this.isWanted(name));
  }

  #isCanary(name: string): boolean {
    return this.canary && name.startsWith('qa-');
  }

  #keepContent(): void {
    if (this.keep === undefined) return;
    const present = this.kept.has(this.content) ? this.kept.get(this.content) : this.#firstStage();
    this.kept.delete(this.content);
    this.kept.set(this.content, present);
  }

  #firstStage(): Stage {
    const others = [...this.companions].flatMap(([name, held]) =>
      this.isWanted(name) && !this.#isCanary(name) ? [held] : [],
    );
    const isFirst = this.kept.size === 0 && others.length === 0;
    const isEverywhere = others.length > 0 && others.every((held) => this.#isSeenToHold(held, this.content));
    return this.canary && !isFirst && !isEverywhere ? 'trying' : undefined;
  }

  #stage(): Stage {
    const before = this.kept.get(this.content);
    if (this.keep === undefined || before === undefined) return undefined;
    const isPinned = this.pin !== undefined && this.pin !== this.content;
    if (isPinned) return before;
    const isFree = !this.canary || [this.approved, this.pin].includes(this.content);
    const canaries = this.#wanted().filter((name) => this.#isCanary(name));
    const isBad = canaries.some((name) => {
      const held = this.companions.get(name);
      return held !== undefined && this.#wasGiven(held, this.content, true) && held.isCondemned;
    });
    const isTried = canaries.length > 0 && this.texts(this.content).rendered(this.value) !== undefined;
    const isBaked = before === 'trying' && this.bake !== 'manual' && isTried;
    const stage = isFree ? undefined : isBad ? 'failed' : isBaked ? undefined : before;
    this.kept.set(this.content, stage);
    return stage;
  }

  #prune(inUse: readonly (string | undefined)[]): void {
    const isOther = (each: string) => each !== this.content || this.keep === undefined;
    const others = [...this.kept].reverse().filter(([each]) => isOther(each) && !inUse.includes(each));
    // Those that were everywhere, and those that only canaries held.
    for (const isTried of [false, true]) {
      const alike = others.filter(([, stage]) => (stage !== undefined) === isTried);
      for (const [each] of alike.slice(this.keep ?? 0)) this.kept.delete(each);
    }
  }

  #write(name: string, stage: Stage, stable: string | undefined): void {
    const held = this.companions.get(name);
    const content = this.#desired(name, stage, stable, held);
    if (content === undefined || this.texts(content).rendered(this.value) === undefined) {
      this.#stay.add(name);
      return;
    }
    const isPinned = this.pin !== undefined && this.pin !== this.content;
    const isFailed = stage === 'failed' && this.#isCanary(name) && !isPinned;
    const isNamed = this.#templates.includes(content) && (this.keep ?? this.pin) !== undefined;
    const isCondemned = held !== undefined && this.#wasGiven(held, content, isNamed) && held.isCondemned;
    const now = { content, written: content, value: this.value, isNamed };
    this.companions.set(name, { ...now, isCondemned, isFailed });
  }

  /** Undefined: it stays as it is. */
  #desired(name: string, stage: Stage, stable: string | undefined, held: HeldContent | undefined) {
    if (this.pin !== undefined && this.pin !== this.content) {
      return this.kept.has(this.pin) ? this.pin : undefined;
    }
    if (stage === undefined || (stage === 'trying' && this.#isCanary(name))) return this.content;
    const isAsWritten = held !== undefined && held.content === held.written;
    const kept = [...this.kept.keys()].filter((each) => each === stable || !this.#isHidden(held));
    return isAsWritten && !kept.some((each) => this.#isSeenToHold(held, each)) ? undefined : stable;
  }

  /** Whether its marks say that the controller last wrote this content there. */
  #wasGiven({ written, value, isNamed }: HeldContent, wanted: string, isNowNamed: boolean): boolean {
    if (written !== wanted || !this.#templates.includes(wanted)) return written === wanted;
    return isNamed === isNowNamed && (isNamed || value === this.value);
  }

  /** Whether it holds the content as it is rendered now. */
  #isRight({ content, value }: HeldContent, wanted: string): boolean {
    return content === wanted && (value === this.value || !this.#templates.includes(wanted));
  }

  /** Whether only its text shows what was rendered. */
  #isHidden(held: HeldContent | undefined): boolean {
    return held !== undefined && !held.isNamed && this.#templates.includes(held.written);
  }

  #isSeenToHold(held: HeldContent, wanted: string): boolean {
    return this.#isHidden(held) ? this.#isRight(held, wanted) : held.written === wanted;
  }
}
