/** One line of `strata doctor`. */
export interface Check {
  readonly name: string
  readonly state: "ok" | "problem" | "not checked"
  /** What was found; for a problem also what to do. */
  readonly about: string
}

export const ok = (name: string, about: string): Check => ({ name, state: "ok", about })
export const problem = (name: string, about: string): Check => ({ name, state: "problem", about })
export const notChecked = (name: string, about: string): Check => ({ name, state: "not checked", about })
