import manifest from '../../package.json' with { type: 'json' };

/** The program's own version. */
export const version: string = manifest.version;

/** How the program names itself to the API server. */
export const USER_AGENT = `mirror-controller/${version}`;
