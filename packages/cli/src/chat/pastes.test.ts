/** Long pasted texts: what the input line shows, what is sent, and what is kept. */
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
  expect(label).toMatch(/^\[pasted text [0-9a-f]{12}: 5,?000 lines\]$/)
  expect(pastes.inFull(`Look at ${label} and ${label}, please.`)).toBe(`Look at ${LOG} and ${LOG}, please.`)
})

test("LOOP-7 a short paste stays as it is, and a typed label that nobody kept too", () => {
  const pastes = new Pastes(directory)
  expect(inLine(pastes, "a\nb")).toBe("a\nb")
  expect(pastes.inFull("[pasted text 0123456789ab: 2 lines]")).toBe("[pasted text 0123456789ab: 2 lines]")
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
  expect(readFileSync(/kept in (\S+):/.exec(refused.why)![1]!, "utf8")).toBe(text)
})

test("only the newest pastes are kept", () => {
  const pastes = new Pastes(directory)
  for (let i = 0; i < 60; i++) inLine(pastes, `${i} ${LOG}`)
  expect(readdirSync(directory)).toHaveLength(50)
})
