/** Parses a line or a script inside a word, within limits. */
import { type ParsedScript, parse } from "unbash"
import type { Findings } from "./findings.ts"

/** The parser needs time for every opening sign times the length of the line. This takes it less than half a second. */
const MOST_WORK = 4_000_000
const MOST_CHARACTERS = 64_000

/** `undefined`: it is too long, which is among the findings. */
export function parseScript(text: string, findings: Findings): ParsedScript | undefined {
  const openings = text.match(/[({`]|<</g)?.length ?? 0
  if (text.length > MOST_CHARACTERS || openings * text.length > MOST_WORK) {
    findings.addHidden("It is too long to look at.")
    return undefined
  }
  // bash joins such lines before it looks for expansions, the parser after it
  if (/\$\\\n/.test(text)) findings.addHidden("It breaks a line after a dollar sign.")
  return parse(text)
}
