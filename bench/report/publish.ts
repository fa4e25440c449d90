import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { markdown } from './markdown.ts';
import { overview } from './overview.ts';
import type { Report } from './report.ts';

const BEGIN = '<!-- report -->';
const END = '<!-- end of report -->';

/** Puts the report into the marked places of docs/benchmarks.md and docs/performance.md. */
export function publish(report: Report): void {
  if (report.quick) throw new Error('a report of --quick is not published: its figures mean nothing');
  for (const [name, text] of [
    ['benchmarks.md', markdown(report)],
    ['performance.md', overview(report)],
  ] as const) {
    const path = fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
    writeFileSync(path, between(readFileSync(path, 'utf8'), text));
  }
}

/** `page` with `text` in its marked place. */
export function between(page: string, text: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no place marked ${BEGIN} … ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${text}\n\n${page.slice(end)}`;
}
