import process from 'node:process';

/**
 * The value of `flag`, or of the argument named so. Ends the script with 2 if it is not a number
 * above 0.
 */
export function aboveZero(flag: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`${flag}: "${text}" is not a number above 0`);
  process.exit(2);
}
