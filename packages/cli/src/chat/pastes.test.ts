/** Long pasted texts: labels in the input line, sent text, and stored files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Pastes } from "./pastes.ts"

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "strata-pastes-"))
})
afterEach(() => rmSync(directory, { recursive: true }))

const LOG = Array.from({ length: 5_000 }, (_, i) => `line ${i}`).join("\n")
const inLine = (pastes: Pastes, text: string): string => {
  const abbreviated = pastes.abbreviate(text)
  if (abbreviated.state !== "abbreviated") throw new Error(abbreviated.why)
  return abbreviated.text
}

test("LOOP-7 a long paste is a label in the line and the whole text when it is sent", () => {
  const pastes = new Pastes(directory)
  const label = inLine(pastes, LOG)
  expect(label).toBe("[Pasted text #1 +5,000 lines]")
  expect(pastes.inFull(`Look at ${label} and ${label}, please.`)).toBe(`Look at ${LOG} and ${LOG}, please.`)
})

test("LOOP-7 a short paste stays as it is, and a typed label that no one kept too", () => {
  const pastes = new Pastes(directory)
  for (const short of ["a\nb\nc\nd\ne", "x".repeat(800)]) expect(inLine(pastes, short)).toBe(short)
  expect(inLine(pastes, "a\nb\nc\nd\ne\nf")).toBe("[Pasted text #1 +6 lines]")
  expect(inLine(pastes, "x".repeat(801))).toBe("[Pasted text #2 +801 characters]")
  expect(pastes.inFull("[Pasted text #7 +2 lines]")).toBe("[Pasted text #7 +2 lines]")
})

test("LOOP-7 the next process finds the text of an earlier input in its file, which only the person can read", () => {
  const label = inLine(new Pastes(directory), LOG)
  expect(new Pastes(directory).inFull(label)).toBe(LOG)
  const [name] = readdirSync(directory)
  expect(statSync(join(directory, name!)).mode & 0o777).toBe(0o600)
})

test("LOOP-7 a paste that is too long for a message is refused, and the sentence names the file that keeps it", () => {
  const text = "x".repeat(5_000_000)
  const refused = new Pastes(directory).abbreviate(text)
  if (refused.state !== "refused") throw new Error("it was taken")
  expect(refused.why).toContain("5,000,000 characters, and a message takes at most 1,000,000")
  expect(readFileSync(/stored in (\S+):/.exec(refused.why)![1]!, "utf8")).toBe(text)
})

test("LOOP-7 a message of ten lines that comes back to be edited stays as it was written", () => {
  const text = Array.from({ length: 10 }, (_, at) => `${at}`).join("\n")
  const pastes = new Pastes(directory)
  expect(pastes.abbreviate(text, { isWritten: true })).toEqual({ state: "abbreviated", text })
  expect(inLine(pastes, text)).toBe("[Pasted text #1 +10 lines]")
})

test("LOOP-7 numbers go on in the next process, the same text has one number, and a number that is taken is not overwritten", () => {
  const first = new Pastes(directory)
  expect([LOG, `${LOG}.`, LOG].map((text) => inLine(first, text).slice(0, 15))).toEqual(
    [1, 2, 1].map((number) => `[Pasted text #${number}`),
  )
  const [second, third] = [new Pastes(directory), new Pastes(directory)]
  const [a, b] = [inLine(second, `${LOG}a`), inLine(third, `${LOG}b`)]
  expect([a, b].map((label) => label.slice(0, 15))).toEqual(["[Pasted text #3", "[Pasted text #4"])
  const next = new Pastes(directory)
  expect(next.inFull(`${a} ${b}`)).toBe(`${LOG}a ${LOG}b`)
})

test("LOOP-7 a pasted text that contains a label is sent as it is: no other text takes the label's place", () => {
  const pastes = new Pastes(directory)
  const label = inLine(pastes, LOG)
  const quoted = `the screen says ${label}`
  expect(pastes.inFull(inLine(pastes, quoted))).toBe(quoted)
})

test("LOOP-7 where nothing can be written, the text is sent all the same", () => {
  const pastes = new Pastes("/dev/null/pasted")
  expect(pastes.inFull(`${inLine(pastes, LOG)} and ${inLine(pastes, `${LOG}.`)}`)).toBe(`${LOG} and ${LOG}.`)
})

test("only the newest pastes are kept", () => {
  const pastes = new Pastes(directory)
  for (let i = 0; i < 60; i++) inLine(pastes, `${i} ${LOG}`)
  expect(readdirSync(directory)).toHaveLength(50)
})
