import { expect, test } from "vitest"
import { reasonOf, StrataError } from "./errors.ts"

test("the reason of an error is the system's code, and of our own errors the sentence", () => {
  expect(reasonOf(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }))).toBe("ENOSPC")
  expect(reasonOf(new StrataError("The notes were not updated.", { code: "notes-answer" }))).toBe(
    "The notes were not updated.",
  )
  expect(reasonOf(new DOMException("The operation was aborted", "AbortError"))).toBe("The operation was aborted")
})
