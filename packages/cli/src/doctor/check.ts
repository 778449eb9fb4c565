/** One line of `strata doctor`. */
export interface CheckResult {
  readonly name: string
  readonly state: "ok" | "problem" | "not checked"
  /** The finding and, for a problem, what to do. */
  readonly about: string
}

/** A short reason for a sentence. For a request, the actual error is the cause. */
export function reasonOf(error: unknown): string {
  const { code, message } = ((error as { cause?: unknown }).cause ?? error) as NodeJS.ErrnoException
  return code ?? message ?? String(error)
}

export const ok = (name: string, about: string): CheckResult => ({ name, state: "ok", about })
export const problem = (name: string, about: string): CheckResult => ({ name, state: "problem", about })
export const notChecked = (name: string, about: string): CheckResult => ({ name, state: "not checked", about })
