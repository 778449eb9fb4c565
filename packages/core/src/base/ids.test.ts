import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isSafeId, projectName, randomIds, seededIds, uuidFrom, validateId } from "./clock.ts"
import { InvalidIdError } from "./errors.ts"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[48][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("MSG-1 uuids", () => {
  test("random ones are uuids and never the same", () => {
    const made = Array.from({ length: 100 }, () => randomIds.uuid())
    for (const uuid of made) expect(uuid).toMatch(UUID)
    expect(new Set(made).size).toBe(100)
  })

  test("the same seed gives the same ids in the same order, another seed gives others", () => {
    const [one, again, other] = [seededIds("a"), seededIds("a"), seededIds("b")]
    const made = Array.from({ length: 50 }, () => one.uuid())
    expect(Array.from({ length: 50 }, () => again.uuid())).toEqual(made)
    expect(new Set([...made, ...Array.from({ length: 50 }, () => other.uuid())]).size).toBe(100)
  })

  test("any text gives a uuid, equal text the same one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(uuidFrom(text)).toMatch(UUID)
        expect(uuidFrom(text)).toBe(uuidFrom(text))
      }),
    )
  })
})

describe("JRN-8 ids that may stand in a path", () => {
  const HOSTILE = [
    "",
    ".",
    "..",
    "../x",
    "..\\x",
    "/etc/passwd",
    "C:\\x",
    "a/b",
    "a b",
    "a.b",
    "~",
    "a\0b",
    "a\nb",
    "a\n",
    "é",
    "ａ",
    "%2e%2e",
    "x".repeat(221),
  ]

  test.each(HOSTILE)("%j is refused, with a sentence that says what is allowed", (id) => {
    expect(isSafeId(id)).toBe(false)
    expect(() => validateId("conversation id", id)).toThrow(InvalidIdError)
    expect(() => validateId("conversation id", id)).toThrow(/cannot be used as a conversation id: only letters, digits/)
  })

  test("the sentence stays short, however long the id is", () => {
    expect(new InvalidIdError("file name", "y".repeat(100_000)).message.length).toBeLessThan(250)
  })

  test.each(["a", "-", "0", "A_b-9", "x".repeat(220), uuidFrom("x")])("%s is taken as it is", (id) => {
    expect(validateId("conversation id", id)).toBe(id)
  })
})

describe("JRN-8 the name of a project's directory", () => {
  test("everything but letters and digits becomes a dash", () => {
    expect(projectName("/home/me/my project.v2")).toBe("-home-me-my-project-v2")
  })

  test("is safe for every path, and long paths that differ have names that differ", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 600, unit: "binary" }), (path) => {
        expect(isSafeId(projectName(path))).toBe(true)
      }),
    )
    const deep = `/${"deep/".repeat(80)}`
    expect(projectName(`${deep}a`)).not.toBe(projectName(`${deep}b`))
    expect(projectName(`${deep}a`)).toBe(projectName(`${deep}a`))
  })
})
