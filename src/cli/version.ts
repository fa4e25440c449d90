import manifest from '../../package.json' with { type: 'json' };

/** The program's own version. */
export const version: string = manifest.version;
