import type { SourceRecord } from './record.ts';

/** What a write says of a record. */
export interface Change {
  readonly uid: string;
  readonly seq: number;
  /** Undefined: it is forgotten. */
  readonly text: string | undefined;
}

/** `record` undefined: it is forgotten. */
export function changeOf(uid: string, record: SourceRecord | undefined): Change {
  return { uid, seq: record?.seq ?? 0, text: textOf(record) };
}

/** A record as it is stored. */
export function textOf(record: SourceRecord | undefined): string | undefined {
  return record && JSON.stringify(record);
}
