import { expect, test } from "vitest"
import { explainDirectoryError } from "./session.ts"

test("JRN-3 another directory is advised only where it would help", () => {
  const explanation = (code: string) =>
    (
      explainDirectoryError(
        Object.assign(new Error(code), { code, path: "/home/me/.strata/c.index" }),
        "/home/me/.strata",
      ) as Error
    ).message
  expect(explanation("EROFS")).toBe(
    "Strata keeps conversations in /home/me/.strata, but cannot use /home/me/.strata/c.index (the disk is read-only, EROFS). Nothing was sent. Set STRATA_HOME to another directory.",
  )
  expect(explanation("EMFILE")).toContain(
    '(this process has too many open files, EMFILE). Nothing was sent. Raise the limit ("ulimit -n" shows it)',
  )
  expect(explanation("EMFILE")).not.toContain("STRATA_HOME")
})
