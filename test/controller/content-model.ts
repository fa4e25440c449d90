/** What SPEC D4-D6 say of one source `home/colors`, in plain words and without the code under test. */
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
}

type Stage = 'trying' | 'failed' | undefined;

/** What a source holds, and what companions hold of it. */
export interface Texts {
  readonly template: string;
  /** Undefined: it cannot be rendered. */
  rendered(value: string | undefined): string | undefined;
}

export class ContentModel {
  content = 'a';
  keep: number | undefined = 2;
  pin: string | undefined;
  canary = false;
  approved: string | undefined;
  /** Undefined: no value, so contents with a placeholder are unresolved. */
  value: string | undefined = 'x';
  /** Target namespaces. Those that begin with `qa-` are canaries. */
  readonly namespaces = new Set(['qa-a', 'team-a', 'team-b']);
  readonly companions = new Map<string, HeldContent>();
  /** The oldest first. */
  readonly kept = new Map<string, Stage>();
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

  /** The state when a controller has done all there is to do. */
  settle(): void {
    for (const name of this.companions.keys()) if (!this.namespaces.has(name)) this.companions.delete(name);
    // A canary needs revisions: invalid, so everything stays as it is.
    if (this.canary && this.keep === undefined) return;
    this.#keepContent();
    const stage = this.#stage();
    const stable = [...this.kept].findLast(([each, its]) => each !== this.content && !its)?.[0];
    const isFollowing = this.pin === undefined || this.pin === this.content;
    const inUse = [...(isFollowing ? [] : [this.pin]), ...(stage ? [stable] : [])];
    this.#prune(inUse);
    for (const name of this.namespaces) this.#write(name, stage, stable);
  }

  isCanary(name: string): boolean {
    return this.canary && name.startsWith('qa-');
  }

  #keepContent(): void {
    if (this.keep === undefined) return;
    const present = this.kept.has(this.content) ? this.kept.get(this.content) : this.#firstStage();
    this.kept.delete(this.content);
    this.kept.set(this.content, present);
  }

  #firstStage(): Stage {
    const others = [...this.companions].filter(([name]) => !this.isCanary(name)).map(([, held]) => held);
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
    const canaries = [...this.companions].filter(([name]) => this.isCanary(name));
    const isBad = canaries.some(([, held]) => this.#isRight(held, this.content) && held.isCondemned);
    const stage = isFree ? undefined : isBad ? 'failed' : before;
    this.kept.set(this.content, stage);
    return stage;
  }

  #prune(inUse: readonly (string | undefined)[]): void {
    const isOther = (each: string) => each !== this.content || this.keep === undefined;
    const others = [...this.kept.keys()].filter((each) => isOther(each) && !inUse.includes(each));
    for (const each of others.reverse().slice(this.keep ?? 0)) this.kept.delete(each);
  }

  #write(name: string, stage: Stage, stable: string | undefined): void {
    const held = this.companions.get(name);
    const content = this.#desired(name, stage, stable, held);
    if (content === undefined || this.texts(content).rendered(this.value) === undefined) return;
    const isPinned = this.pin !== undefined && this.pin !== this.content;
    const isFailed = stage === 'failed' && this.isCanary(name) && !isPinned;
    const isCondemned = held !== undefined && this.#isRight(held, content) && held.isCondemned;
    const isNamed = this.#templates.includes(content) && (this.keep ?? this.pin) !== undefined;
    const now = { content, written: content, value: this.value, isNamed };
    this.companions.set(name, { ...now, isCondemned, isFailed });
  }

  /** Undefined: it stays as it is. */
  #desired(name: string, stage: Stage, stable: string | undefined, held: HeldContent | undefined) {
    if (this.pin !== undefined && this.pin !== this.content) {
      return this.kept.has(this.pin) ? this.pin : undefined;
    }
    if (stage === undefined || (stage === 'trying' && this.isCanary(name))) return this.content;
    const isAsWritten = held !== undefined && held.content === held.written;
    const kept = [...this.kept.keys()].filter((each) => each === stable || !this.#isHidden(held));
    return isAsWritten && !kept.some((each) => this.#isSeenToHold(held, each)) ? undefined : stable;
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
