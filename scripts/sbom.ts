/** A CycloneDX document as `npm sbom` makes it, as far as we change it. */
export interface Sbom {
  readonly serialNumber: string;
  readonly metadata: {
    readonly timestamp: string;
    readonly component: { readonly 'bom-ref': string; readonly name: string };
  };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  /** `name@version`. */
  readonly 'bom-ref': string;
  readonly externalReferences: readonly { readonly type: string; readonly url: string }[];
}

/** What a release is made of. */
export interface Commit {
  /** In hexadecimal. */
  readonly hash: string;
  readonly time: Date;
}

/**
 * `installed` without what is not in the bundle, and without what depends on who asks npm, where
 * and when. Throws when npm does not know a package that is in the bundle.
 *
 * @param bundled the packages in the bundle, as `name@version`
 */
export function sbomOfBundle(
  installed: Sbom,
  name: string,
  bundled: ReadonlySet<string>,
  commit: Commit,
): Sbom {
  const { metadata } = installed;
  const listed = new Map(installed.components.map((component) => [component['bom-ref'], component]));
  const components = [...bundled].sort().map((packageName) => {
    const component = listed.get(packageName);
    if (component === undefined) throw new Error(`npm sbom does not list ${packageName}, which is bundled`);
    return component;
  });
  const kept = new Set([metadata.component['bom-ref'], ...bundled]);
  return {
    ...installed,
    serialNumber: `urn:uuid:${uuidOf(commit.hash)}`,
    metadata: {
      ...metadata,
      timestamp: commit.time.toISOString(),
      // npm takes the name of the folder.
      component: { ...metadata.component, name },
    },
    components: components.map((component) => ({
      ...component,
      // The registry from which this machine happened to install.
      externalReferences: component.externalReferences.filter(({ type }) => type !== 'distribution'),
    })),
    dependencies: installed.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => kept.has(on)) })),
  };
}

/** A UUID of version 8, whose bits everybody may choose (RFC 9562, section 5.8). */
function uuidOf(hash: string): string {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hash) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}
