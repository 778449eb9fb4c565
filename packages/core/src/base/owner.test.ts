import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isSafeId, projectName } from "./clock.ts"
import { isLocalNamespace, localUser, MEMORY_OPTION, namespaceFor, OWNER_OPTION } from "./owner.ts"

describe("L5-12 whose it is", () => {
  test("two owners, or two projects, never share a place; the local person's is the project's name as before", () => {
    const texts = fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.string({ minLength: 1, maxLength: 400 }))
    const projects = texts.map(projectName)
    const owners = fc.oneof(texts, fc.constantFrom(localUser, undefined))
    fc.assert(
      fc.property(projects, owners, projects, owners, (project, owner, other, another) => {
        const place = namespaceFor(project, owner)
        expect(isSafeId(place)).toBe(true)
        expect(isLocalNamespace(place)).toBe(owner === localUser)
        expect(place === namespaceFor(other, another)).toBe(project === other && owner === another)
      }),
    )
    expect(namespaceFor("-srv-app", localUser)).toBe("-srv-app")
  })

  test("texts that look alike are different owners", () => {
    const alike = [
      "a",
      "A",
      "a ",
      "\u00e9",
      "e\u0301",
      "\ud800",
      "\ud801",
      "\ufffd",
      "../a",
      "unowned",
      `${"a".repeat(9_999)}`,
    ]
    expect(new Set(alike.map((owner) => namespaceFor("p", owner).toLowerCase())).size).toBe(alike.length)
  })

  test("an owner that is missing or empty is refused, so that it never means everyone", () => {
    for (const owner of [undefined, null, "", "  ", 7, {}, Symbol("strata.localPerson")]) {
      expect(MEMORY_OPTION.accepts({ owner })).toBe(false)
      expect(OWNER_OPTION.accepts(owner)).toBe(false)
    }
    for (const memory of [{}, true, "ada", null, { owner: "ada", mode: "auto" }, []])
      expect(MEMORY_OPTION.accepts(memory)).toBe(false)
    for (const memory of [false, { owner: "ada" }, { owner: localUser }])
      expect(MEMORY_OPTION.accepts(memory)).toBe(true)
  })
})
