/** Recognizes errors of a schema that is missing, or not the one that this version knows. */
import { StrataError } from "@strata/core"

/** A schema, a table or a function is missing. */
const MISSING = new Set(["3F000", "42P01", "42883"])
export const REFUSED = "42501"

export function schemaProblem(error: unknown): StrataError | undefined {
  const { code } = error as { readonly code?: unknown }
  if (typeof code !== "string") return undefined
  if (MISSING.has(code))
    return new StrataError(
      'The database has no tables of Strata, or those of another version. Nothing was written. Run "strata store migrate" with a role that may create a schema; "strata store status" shows the current state.',
      { code: "no-schema" },
    )
  if (code === REFUSED)
    return new StrataError(
      'The role of this connection may not use the tables of Strata. Nothing was written. Grant it the application\'s role: GRANT strata_app TO that role, or name it with "strata store migrate --role".',
      { code: "permission-denied" },
    )
  return undefined
}
