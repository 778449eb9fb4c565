import fc from "fast-check"
import { expect, test } from "vitest"
import { expectLinearWork } from "../../../test/growth.ts"
import { HARMLESS, SECRETS } from "../../../test/memory/secret-samples.ts"
import { isWhole } from "../../../test/size.ts"
import { findSecrets, maskSecrets } from "./find-secrets.ts"
import { KNOWN_FORMS } from "./known-forms.ts"
import { NAMED_SECRETS } from "./named-secrets.ts"

const lines = (text: string) => text.split("\n").filter((line) => line.trim() !== "")

test(`BEY-9 secrets in ${SECRETS.length} forms are masked, in assignments and in prose`, () => {
  const left = SECRETS.filter(({ text, secret }) => {
    const masked = maskSecrets(text)
    return !masked.includes("[secret removed: ") || lines(secret).some((line) => masked.includes(line))
  })
  expect(left.map(({ text }) => `${text} -> ${maskSecrets(text)}`)).toEqual([])
  expect(SECRETS.length).toBeGreaterThanOrEqual(40)
})

test(`BEY-9 ${HARMLESS.length} harmless sentences stay as they are`, () => {
  expect(HARMLESS.filter((text) => maskSecrets(text) !== text).map((text) => maskSecrets(text))).toEqual([])
  expect(HARMLESS.length).toBeGreaterThanOrEqual(60)
})

test("BEY-9 a secret is found wherever it is in a text, and only the secret is removed", () => {
  const harmless = fc.constantFrom(...HARMLESS)
  const secret = fc.constantFrom(...SECRETS)
  fc.assert(
    fc.property(harmless, secret, harmless, (before, { text, secret: hidden }, after) => {
      const masked = maskSecrets(`${before}\n\n${text}\n\n${after}`)
      expect(lines(hidden).filter((line) => masked.includes(line))).toEqual([])
      expect(masked.startsWith(before)).toBe(true)
      expect(masked.endsWith(after)).toBe(true)
      expect(maskSecrets(masked)).toBe(masked)
    }),
  )
})

test("BEY-9 places are in order, inside the text and apart, and masking twice changes nothing more", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      let end = 0
      for (const { at, length } of findSecrets(text)) {
        expect(at).toBeGreaterThanOrEqual(end)
        expect(length).toBeGreaterThan(0)
        end = at + length
      }
      expect(end).toBeLessThanOrEqual(text.length)
      expect(maskSecrets(maskSecrets(text))).toBe(maskSecrets(text))
    }),
  )
})

test.runIf(isWhole)("BEY-9 long hostile texts are searched in time that grows with their length", () => {
  const hostile = [
    "password ",
    "token=",
    "a:",
    "-----BEGIN PRIVATE KEY-----",
    "4111 ",
    "password for ",
    "eyJ",
    '"',
    "x@://",
    "\n ",
    "cookie=",
  ]
  for (const part of hostile) expectLinearWork(part, { length: 120_000, work: findSecrets })
})

test("BEY-9 the places where a rule is tried are all that it could match at", () => {
  const texts = [...SECRETS.map(({ text }) => text), ...HARMLESS]
  for (const { pattern, begins, needs } of [...KNOWN_FORMS, ...NAMED_SECRETS]) {
    const anywhere = new RegExp(pattern, pattern.flags.replace("y", ""))
    for (const text of texts.filter((each) => each.search(anywhere) >= 0)) {
      if (begins) {
        const here = new RegExp(begins, `${begins.flags}y`)
        here.lastIndex = text.search(anywhere)
        expect(here.test(text), `${begins} in ${text}`).toBe(true)
      }
      if (needs) expect(text.search(needs), `${needs} in ${text}`).toBeGreaterThanOrEqual(0)
    }
  }
})
