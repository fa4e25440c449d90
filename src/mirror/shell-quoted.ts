/** A word of a printed command line, in quotes if the shell would change it. */
export function shellQuoted(value: string): string {
  return /^[-\w./]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
