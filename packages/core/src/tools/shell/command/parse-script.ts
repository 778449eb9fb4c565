/** Parses a line or a script inside a word, within limits. */
import { type ParsedScript, parse } from "unbash"
import type { Findings } from "./findings.ts"
import { type Grammar, uncertaintyOf } from "./grammar.ts"

/** The parser needs time for every opening sign times the length of the line. This takes it less than half a second. */
const MOST_WORK = 4_000_000
const MOST_CHARACTERS = 64_000

interface Parsing {
  readonly findings: Findings
  readonly grammar: Grammar
}

/** As bash reads it. If another shell may read it otherwise, it runs something that is not known too. `undefined`: it is too long. */
export function parseScript(text: string, { findings, grammar }: Parsing): ParsedScript | undefined {
  const openings = text.match(/[({`]|<</g)?.length ?? 0
  if (text.length > MOST_CHARACTERS || openings * text.length > MOST_WORK) {
    findings.addHidden("It is too long to look at.")
    return undefined
  }
  const uncertainty = uncertaintyOf(text, grammar)
  if (uncertainty !== undefined) findings.addHidden(uncertainty)
  // bash joins such lines before it looks for expansions, the parser after it
  if (/\$\\\n/.test(text)) findings.addHidden("It breaks a line after a dollar sign.")
  return parse(text)
}
