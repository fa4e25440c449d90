/** Who is measured. `none`: nobody, only the API server. `other`: another build of ours. */
export type SubjectName = 'none' | 'ours' | 'other' | 'go' | 'go-protobuf';

/** One number that a scenario found. */
export interface Figure {
  readonly name: string;
  /** Of `/s` more is better; of everything else, less. */
  readonly unit: '/s' | 's' | 'ms' | 'MiB' | 'writes' | 'reads' | 'times';
  readonly value: number;
  /** The figure of the API server alone that bounds this one. */
  readonly bound?: CeilingName;
}

/** Figures of the scenario `ceiling`. */
export type CeilingName =
  | 'creates, 16 in flight'
  | 'updates, 16 in flight'
  | 'deletes, 16 in flight'
  | 'one write seen by a watch, p50';
