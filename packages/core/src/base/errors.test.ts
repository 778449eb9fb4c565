import { describe, expect, test } from "vitest"
import {
  ConversationNotFoundError,
  errorKind,
  errorReason,
  JournalOpenError,
  JournalWriteError,
  LockLostError,
  StrataError,
} from "./errors.ts"

test("the reason of an error is the system's code, and of our own errors the sentence", () => {
  expect(errorReason(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }))).toBe("ENOSPC")
  expect(errorReason(new StrataError("The notes were not updated.", { code: "notes-answer" }))).toBe(
    "The notes were not updated.",
  )
  expect(errorReason(new DOMException("The operation was aborted", "AbortError"))).toBe("The operation was aborted")
})

describe("errors are recognised by their code", () => {
  /** Loads the module again, as another version of this package in the same process would. */
  const otherVersion = (): Promise<typeof import("./errors.ts")> => import(`./errors.ts?${"other"}`)

  test("each class has its own, and a failure without a class says it itself", () => {
    expect(new ConversationNotFoundError("a", "b").code).toBe("conversation-not-found")
    expect(errorKind(new StrataError("No.", { code: "notes-answer" }))).toBe("notes-answer")
    expect(errorKind(new StrataError("No."))).toBe("strata")
  })

  test("also those of another version: instanceof holds for the class, the classes above it, and no other", async () => {
    const other = await otherVersion()
    expect(other.ConversationNotFoundError).not.toBe(ConversationNotFoundError)
    const error = new other.ConversationNotFoundError("a", "b")
    expect(error).toBeInstanceOf(ConversationNotFoundError)
    expect(error).toBeInstanceOf(StrataError)
    expect(error instanceof LockLostError).toBe(false)
    expect(errorReason(error)).toBe(error.message)
  })

  test("a class of someone else's that has no code is the class it is", () => {
    class Theirs extends ConversationNotFoundError {}
    const theirs = new Theirs("a", "b")
    expect(theirs).toBeInstanceOf(Theirs)
    expect(theirs).toBeInstanceOf(ConversationNotFoundError)
    expect(new ConversationNotFoundError("a", "b") instanceof Theirs).toBe(false)
  })

  test("a value that is not an error of ours is not recognised", () => {
    for (const value of [undefined, null, 1, "a", {}, { code: "strata" }, new Error("a")])
      expect(value instanceof StrataError).toBe(false)
  })
})

describe("JRN-3 a failure of the operating system", () => {
  const failure = (code: string) => Object.assign(new Error(`${code}: no`), { code })
  const opening = (code: string) => new JournalOpenError({ path: "/j", access: "write", cause: failure(code) }).message
  const writing = (code: string) => new JournalWriteError("/j", failure(code)).message

  test.each([
    ["ENOSPC", "the disk is full", "Free some disk space."],
    ["EDQUOT", "the disk quota is used up", "Free some disk space, or raise the quota."],
    ["EROFS", "the disk is read-only", "Make it writable."],
    ["EACCES", "permission denied", "Check the permissions."],
    ["EMFILE", "this process has too many open files", "Raise the limit"],
    ["ENFILE", "the machine has too many open files", "Close other programs."],
    ["EIO", "the disk reports an error", "Check the disk"],
    ["EUNKNOWN", "EUNKNOWN", "Check the path, the permissions and the disk."],
  ])("%s says what it means, and its own way out", (code, is, help) => {
    for (const message of [opening(code), writing(code)]) {
      expect(message).toContain(`(${is}`)
      expect(message).toContain(help)
      expect(message.includes("disk space")).toBe(code === "ENOSPC" || code === "EDQUOT")
    }
  })

  test("another directory is advised only where it would help", () => {
    expect(opening("ENOSPC")).toContain("STRATA_HOME")
    expect(opening("EMFILE")).not.toContain("STRATA_HOME")
  })
})
