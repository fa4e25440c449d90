import { open, stat } from 'node:fs/promises';

/** One call in a kube-apiserver's audit log, as far as tests look at it (audit.k8s.io/v1 Event). */
export interface AuditedCall {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  /** Without a name when the caller went before it was known. */
  readonly user: { readonly username?: string };
  /** As whom the user acted (`as` in a kubeconfig). */
  readonly impersonatedUser?: { readonly username?: string };
  readonly objectRef?: {
    /** Absent for the core group. */
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly requestReceivedTimestamp: string;
  /** When it was answered; of a watch that has begun, when it began. */
  readonly stageTimestamp: string;
  readonly responseStatus?: { readonly code?: number };
  /** Among them who allowed or forbade it: `authorization.k8s.io/decision`. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Reads a growing audit log (`ControlPlane.auditLogPath`) from the moment on that it was opened.
 */
export class AuditLog {
  readonly #path: string;
  readonly #start: number;

  static async open(path: string): Promise<AuditLog> {
    return new AuditLog(path, (await stat(path)).size);
  }

  private constructor(path: string, start: number) {
    this.#path = path;
    this.#start = start;
  }

  /**
   * Every call since it was opened; a watch when it begins and once more when it ends. The log is
   * written before the answer is sent, so a call whose answer has come is in it.
   */
  async calls(): Promise<readonly AuditedCall[]> {
    const file = await open(this.#path);
    try {
      const length = (await file.stat()).size - this.#start;
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, this.#start);
      const text = buffer.toString();
      // The last line may be half written.
      const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditedCall);
    } finally {
      await file.close();
    }
  }
}
